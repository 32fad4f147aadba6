"""``glovebox sessions stats``, run as users run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.sessions.store import SessionStore

USED = {"input": 1200, "output": 30, "cache_read": 500, "cache_write": 0}


@pytest.fixture
def used(session: Path) -> Path:
    """The session has one priced turn and one call that nobody knows the price of."""
    call = {"type": "tool_call", "id": "a", "name": "ba\x1bsh", "arguments": "{}"}
    with SessionStore.open(session) as store:
        body = {"role": "assistant", "content": [call], "stop_reason": "tool_use", "usage": USED}
        store.append("message", {**body, "model": "m/one", "cost_usd": 0.5, "saved_usd": 0.125})
        result = {"call": "a", "name": "ba\x1bsh", "output": "x" * 4000, "is_error": True}
        store.append("message", {"role": "tool", "results": [result]})
        usage = {"kind": "usage", "purpose": "title", "model": "m/two", "usage": USED}
        store.append("custom", usage)
    return session


def test_sums_are_shown_and_the_unknown_is_called_so(sessions, used: Path) -> None:
    """Nothing from the file acts on the terminal."""
    assert used.exists()
    text = sessions("stats", "--turns").stdout

    assert "3 messages of yours, 1 turns, 2 model calls" in text
    assert "cost unknown for 1 of 2; $0.5000 known, caching saved $0.1250" in text
    assert "m/one                  1 calls, 1,200 in, 30 out, 500 from cache, $0.5000" in text
    assert "1 calls, 1 errors, about 1,000 tokens, 0 images, $0.5000" in text
    assert "500 from cache, $0.5000, caching saved $0.1250" in text.splitlines()[-1]
    assert r"ba\x1bsh" in text
    assert "\x1b" not in text
    assert "tool_use" in text.splitlines()[-1]


def test_directory_says_whose_newest_session(sessions, used: Path, tmp_path: Path) -> None:
    """Also where no session is named; another directory has none."""
    assert used.exists()
    (tmp_path / "elsewhere").mkdir()

    refused = sessions("stats", "-C", str(tmp_path / "elsewhere"))

    assert refused.returncode != 0
    assert "elsewhere: no session here" in refused.stderr


def test_copy_counts_its_own(sessions, used: Path) -> None:
    """Else two sessions together would have paid twice."""
    assert used.exists()
    made = sessions("fork", "0123").stdout.strip()

    own = json.loads(sessions("stats", made, "--json").stdout)
    every = json.loads(sessions("stats", "--every", "--json").stdout)

    assert (own["turns"], own["total"]["calls"]) == (0, 0)
    assert every["total"]["calls"] == 2
    assert every["models"]["m/one"]["cost_usd"] == 0.5
    assert every["total"]["cost_usd"] is None
    assert every["tools"]["ba\x1bsh"]["tokens"] == 1000
    assert every["tools"]["ba\x1bsh"]["cost_usd"] == 0.5
    rows = every["sessions"]
    assert {name: (row["turns"], row["calls"]) for name, row in rows.items()} == {
        made: (0, 0),
        used.stem.rpartition("_")[2]: (1, 2),
    }
    assert made in sessions("stats", "--every").stdout
    assert "sessions" not in own


def test_each_turn_is_there_for_machines(sessions, used: Path) -> None:
    """With its entry, so that it can be looked up."""
    assert used.exists()
    (turn,) = json.loads(sessions("stats", "--turns", "--json").stdout)["each"]

    assert (turn["number"], turn["model"], turn["cost_usd"]) == (1, "m/one", 0.5)
    assert turn["usage"] == USED | {"estimated": 0}


def test_estimated_tokens_make_no_sure_cost(sessions, session: Path) -> None:
    """A server that counts nothing is no free one."""
    guessed = {"input": 1200, "output": 30, "estimated": 1230}
    call = {"type": "tool_call", "id": "a", "name": "bash", "arguments": "{}"}
    body = {"role": "assistant", "content": [call], "stop_reason": "tool_use", "usage": guessed}
    with SessionStore.open(session) as store:
        store.append("message", {**body, "model": "m/one", "cost_usd": 0.5})
    text = sessions("stats", "--turns").stdout
    total = json.loads(sessions("stats", "--json").stdout)["total"]

    assert "1 calls, 1,200 in, 30 out (1,230 tokens estimated), about $0.5000" in text
    assert "about $0.5000" in text.splitlines()[-1]
    assert total["usage"]["estimated"] == 1230
    (tools,) = (line for line in text.splitlines() if line.startswith("  bash "))
    assert tools.endswith("about $0.5000")
