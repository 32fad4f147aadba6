"""Kinds of damage beside the corpus's own cases (tests/corpus/test_session_cases.py).

Each file is opened, gone on with, and opened again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import SessionError
from orchestrator.schema.codec import encode_message
from orchestrator.sessions.copying import cloned, forked
from orchestrator.sessions.entry import encode_entry, encode_header
from orchestrator.sessions.store import SessionStore
from orchestrator.sessions.view import SessionView

from .conftest import HEADER, entry, file_of, result, tool, user

A, B, C = (
    encode_entry(entry(name, above)) for name, above in (("a", None), ("b", "a"), ("c", "b"))
)
HEAD = encode_header(HEADER)
FAR = b'{"type":"message","id":"z","parent":null,"time":"","body":' + b'{"a":' * 200_000

CASES: dict[str, tuple[bytes, list[str], str]] = {
    "session-jsonl-03 CRLF": ((HEAD + A + B).replace(b"\n", b"\r\n"), ["a", "b"], ""),
    "session-jsonl-04 cut string": (HEAD + A + B[:-30], ["a"], "torn"),
    "session-jsonl-04 cut character": (
        HEAD + A + B.replace(b'"text":"b"', '"text":"\U0001f600"'.encode())[:-20],
        ["a"],
        "torn",
    ),
    "session-jsonl-05 no line feed": (HEAD + A + B[:-1], ["a", "b"], ""),
    "session-jsonl-07 torn, then empty": (HEAD + A + B[:-30] + b"\n\n", ["a"], "line 3"),
    "session-jsonl-07 torn, then blanks": (HEAD + A + B[:-30] + b"\n \r\n\n", ["a"], "line 3"),
    "session-jsonl-09 damaged": (HEAD + A + b"{x" + B[3:] + C, ["a", "c"], "line 3"),
    "session-jsonl-10 NUL bytes": (
        HEAD + A + bytes(300) + b"\n" + B,
        ["a", "b"],
        "300 empty bytes",
    ),
    "session-jsonl-10 NUL bytes before an entry": (HEAD + A + bytes(9) + B, ["a", "b"], "9 empty"),
    "session-jsonl-11 glued": (HEAD + A + B[:-1] + C, ["a", "b", "c"], "2 entries on one line"),
    "session-jsonl-11 glued to the header": (HEAD[:-1] + A + B, ["a", "b"], "2 entries"),
    "session-jsonl-11 glued at the end": (HEAD + A + B[:-1] + C[:-1], ["a", "b", "c"], "2 entries"),
    "whole, then torn": (HEAD + A + B[:-1] + C[:-30], ["a", "b"], "torn after 1 whole"),
    "whole, then NUL bytes": (HEAD + A + B[:-1] + bytes(9), ["a", "b"], ""),
    "no parent": (HEAD + A + B.replace(b'"parent":"a",', b"") + C, ["a", "c"], "line 3"),
    "session-jsonl-16 empty": (b"", [], "empty"),
    "session-jsonl-16 blank": (b"\n\n", [], "empty"),
    "byte order mark": (b"\xef\xbb\xbf" + HEAD + A, ["a"], ""),
    "type of another version": (
        HEAD + A + B.replace(b'"message"', b'"hologram"') + C,
        ["a", "c"],
        "line 3",
    ),
    "entry below itself": (HEAD + A + encode_entry(entry("s", "s")), ["a", "s"], "parent s"),
    "nested without end": (HEAD + A + FAR + b"\n" + B, ["a", "b"], "line 3"),
    "number without end": (
        HEAD + A + B.replace(b'"parent":"a"', b'"parent":' + b"9" * 5000) + C,
        ["a", "c"],
        "line 3",
    ),
    "not a number": (HEAD + A + B.replace(b'"text":"b"', b'"text":NaN') + C, ["a", "c"], "line 3"),
    "bytes of no text": (HEAD + A + B.replace(b'"b"}', b'"\xff"}'), ["a", "b"], "not UTF-8"),
    "same id twice": (HEAD + A + A + B, ["a", "b"], "there already"),
}


@pytest.fixture
def written(path: Path) -> Callable[[bytes], Path]:
    def write(data: bytes) -> Path:
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize("name", CASES)
def test_damage_costs_itself_and_going_on_is_safe(written, name: str) -> None:
    """What can be read is there, the rest is told; session-jsonl-06: what comes next survives."""
    data, ids, warning = CASES[name]
    path = written(data)
    with SessionStore.open(path) as store:
        assert [one.id for one in store.tree.entries] == ids
        assert any(warning in line for line in store.warnings) or not warning
        assert store.warnings == [] or warning
        new = store.append("message", encode_message(user("next")))
        said = store.messages()

    with SessionStore.open(path) as again:
        assert [one.id for one in again.tree.entries] == [*ids, new]
        assert again.messages() == said
        assert again.header.id == HEADER.id


def test_line_separators_of_other_worlds_are_text(create: Callable[[], SessionStore]) -> None:
    """session-jsonl-01: U+2028, U+2029, U+0085, and a lone CR, do not end a line."""
    output = "a\u2028b\u2029c\u0085d\re\x0bf\x1cg"
    with create() as store:
        store.append("message", encode_message(tool(result("x", output))))
    assert store.path.read_bytes().count(b"\n") == 2
    with SessionStore.open(store.path) as again:
        assert again.tree.entries[0].body["results"][0]["output"] == output


def test_half_a_character_is_visible_and_valid(create: Callable[[], SessionStore]) -> None:
    """session-jsonl-27: in the file and in what is sent."""
    with create() as store:
        store.append("message", encode_message(tool(result("x", "cut \ud83d"))))
        body = {"role": "user", "content": [{"type": "text", "text": "a \udc00 b"}]}
        store.append("message", body)
    store.path.read_bytes().decode()
    with SessionStore.open(store.path) as again:
        assert again.messages()[-1] == user("a \ufffd b")
        json.dumps(encode_message(again.messages()[-1]), ensure_ascii=False).encode()


@pytest.mark.parametrize("kind", ["leaf", "label", "context_edit", "compaction", "approval"])
@pytest.mark.parametrize("link", [["a"], {"a": 1}, 5])
def test_entry_that_leads_nowhere_costs_itself(written, kind: Any, link: Any) -> None:
    """Every way to look at a session follows such links."""
    names = ("target", "first_kept", "waiting", "from")
    body = {"summary": "s", "replacement": None, "label": "x", **dict.fromkeys(names, link)}
    path = written(
        file_of(entry("a", None), entry("b", "a", type=kind, body=body), entry("c", "b"))
    )

    tree = SessionView.open(path).tree
    assert [one.id for one in tree.entries] == ["a", "c"]
    assert [one.id for one in (*forked(tree, tree.leaf), *cloned(tree))] == ["a", "c"] * 2
    with SessionStore.open(path) as store:
        assert store.messages() == (user("a"), user("c"))
        assert any(line.startswith("line 3: damaged") for line in store.warnings)


def test_summary_whose_first_kept_entry_is_lost_leaves_nothing_untold(written) -> None:
    """Rather told twice, and summarised again where that is too long."""
    entries = [entry("a", None), entry("b", "a"), entry("c", "b")]
    body = {"summary": "s", "first_kept": "b"}
    data = file_of(*entries, entry("d", "c", type="compaction", body=body), entry("e", "d"))
    lines = data.split(b"\n")
    lines[2] = b"\x07" + lines[2][1:]
    with SessionStore.open(written(b"\n".join(lines))) as store:
        first, *rest = store.messages()

    assert "<summary>" in first.content[0].text
    assert rest == [user("a"), user("c"), user("e")]


@pytest.mark.parametrize("data", [b"not a session\n", b"[1]\n{}\n", b"\x89PNG\r\n\x1a\n"])
def test_file_of_another_kind_is_refused_and_left(written, data: bytes) -> None:
    """pi#6002: it is somebody's."""
    path = written(data)
    with pytest.raises(SessionError, match="not a session"):
        SessionStore.open(path)
    assert path.read_bytes() == data


def test_link_is_no_session(path: Path) -> None:
    """What it leads to may be anything."""
    path.parent.mkdir(parents=True)
    real = path.with_name("real.jsonl")
    real.write_bytes(file_of(entry("a", None)))
    path.symlink_to(real)
    with pytest.raises(SessionError, match="cannot be opened"):
        SessionStore.open(path)


def test_long_conversation_needs_no_deep_stack(written) -> None:
    """Thousands of entries in a row are walked, not recursed."""
    entries = [entry(f"e{n}", f"e{n - 1}" if n else None) for n in range(20_000)]
    with SessionStore.open(written(file_of(*entries))) as store:
        assert len(store.messages()) == 20_000
