"""Keys that are in use, towards servers that give them back, are found nowhere but with these."""

import base64

import pytest

from tests.support.planted import (
    DECOY,
    KEYS,
    PASSWORD,
    PROVIDER,
    VAULTED,
    Planted,
    found_in,
    hostile,
)
from tests.support.terminals import Seat
from tests.support.world import bash

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


@pytest.fixture
def planted(world):
    return Planted(world.root)


def judge_box(output):
    """The search of the box found the decoy in each kind of place, and no key anywhere."""
    found = [line.split() for line in output.splitlines() if line.startswith("FOUND ")]
    (searched,) = [line.split() for line in output.splitlines() if line.startswith("searched ")]
    (given,) = [line.split() for line in output.splitlines() if line.startswith("placeholders ")]
    places = {place for _, name, _, place in found if name == "decoy"}

    assert int(given[1]) >= 20
    assert int(given[2]) >= 7
    assert int(searched[1]) > 5000
    assert int(searched[2]) > 10
    assert {"/workspace/decoy.txt", "/proc/environ", "/proc/cmdline"} <= places
    assert [words for words in found if words[1] != "decoy"] == []


def judge_servers(echo, model):
    """Both were sent the real keys, and gave them back."""
    sent = {(h.get("x-api-key"), h.get("authorization")) for _, _, h in echo.asked}
    basic = "Basic " + base64.b64encode(f"bot:{PASSWORD}".encode()).decode()
    assert sent == {(VAULTED, None), (None, basic)}
    assert {asked.headers["x-api-key"] for asked in model.asked} == {PROVIDER}
    assert len(model.asked) >= 7


def judge_host(world, *told):
    """Nothing on the host has a key but the files that are to; the decoy is where output goes."""
    files = {path: path.read_bytes() for path in world.root.rglob("*") if path.is_file()}
    keyed = {path: found for path, data in files.items() if (found := found_in(data))}
    decoys = {path.suffix for path, data in files.items() if DECOY.encode() in data}

    assert keyed == {world.root / "passphrase": ["passphrase"]}
    for text in told:
        assert found_in(text.encode()) == []
        assert DECOY in text
    assert DECOY.encode() in (world.state / "audit" / f"{world.session()}.jsonl").read_bytes()
    for name, data in world.inspected.items():
        assert found_in(data) == [], name
    assert world.inspected["layers"].split()[0] == b"libc"
    assert b"glovebox" in world.inspected["argv"]
    return decoys


def test_run_keeps_every_key_that_it_uses(planted):
    """Header, Basic and the model's key, in every dress: not in box, engine, events or records."""
    with hostile(planted) as (echo, model, policy):
        script = planted.script(bash("bash look.sh", timeout=200), {"text": "done"})
        ended = planted.run("run", "x", "-m", script, "--json", "--policy", policy, timeout=280)
    [output] = [event["output"] for event in ended.of("tool_end")]

    judge_box(output)
    judge_servers(echo, model)
    assert ".jsonl" in judge_host(planted, ended.out)
    assert found_in(ended.err.encode()) == []
    assert {"keyed", "basic"} <= {event["rule"] for event in ended.of("egress")}
    assert "model_call_in_box" in {event["type"] for event in ended.events}


def test_wrapped_program_finds_no_key(planted):
    """The same under a terminal: screen and recording too."""
    with hostile(planted) as (echo, model, policy):
        seat = Seat(planted, "wrap", "--policy", policy, "--", "bash", "look.sh", size=(200, 50))
        try:
            seat.until(f"asked {DECOY}", 250)
            code = seat.ended()
        finally:
            seat.close()
    (cast,) = planted.state.rglob("*.cast")

    assert code == 0
    judge_servers(echo, model)
    assert ".cast" in judge_host(planted, seat.written, cast.read_text())


def test_wrapped_program_in_pipes_finds_no_key(planted):
    """And with pipes, where every word of the search comes through whole."""
    with hostile(planted) as (echo, model, policy):
        ended = planted.run("wrap", "-p", "--policy", policy, "--", "bash", "look.sh", timeout=280)

    assert ended.code == 0, ended.err
    judge_box(ended.out)
    judge_servers(echo, model)
    judge_host(planted, ended.out)


@pytest.mark.parametrize("name", KEYS)
def test_search_sees_a_key_in_every_dress(name):
    """What is used above for the host, on each form of each key."""
    raw = KEYS[name].encode()
    dressed = [raw, b"x" + base64.b64encode(b"ab" + raw), raw.hex().encode(), raw[:14], raw[-14:]]

    assert all(name in found_in(b"..." + one + b"...") for one in dressed)
    assert found_in(b"planted nothing") == []
