"""The gate of a wrapped agent on the real engine: a client asks, policy and people answer."""

import json
from functools import partial

import anyio
import pytest

from orchestrator.config.settings import Settings
from orchestrator.confirmation.gate import Answer
from orchestrator.harness.options import NO_MODEL
from orchestrator.harness.wrap.run import WrapOrder, run_wrapped
from orchestrator.schema.event import ErrorRaised, SessionStart, UnexpectedExec
from tests.support.seats import PipedSeat

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("engine")]

ASK = r"""#!/bin/bash
ask() { printf '%s' "$1" | /opt/glovebox/toolserver/glovebox-gate pi; echo "code $?"; }
"""
LS = '{"tool_name":"bash","tool_input":{"command":"ls"}}'
PUSH = '{"tool_name":"bash","tool_input":{"command":"git push origin x"}}'


class Somebody:
    """Says yes to everything, and keeps what was asked."""

    def __init__(self):
        self.asked = []

    async def ask(self, question, *, timeout_s):  # noqa: ARG002 - the Protocol's form
        self.asked.append(question.subject)
        await anyio.sleep(0.2)
        return Answer(yes=True, by="terminal")

    async def close(self, question, answer):  # noqa: ARG002 - the Protocol's form
        return None


@pytest.fixture
def wrapped(options, paths, front, project):
    def run(script, *, policy="", **more):
        client = project / "pi"
        client.write_text(ASK + script)
        client.chmod(0o755)
        if policy:
            path = project.parent / "own.yaml"
            path.write_text(f"version: 1\nname: own\nextends: [default]\n{policy}")
            more["policies"] = (str(path),)
        seat = PipedSeat()
        order = WrapOrder(options(model=NO_MODEL, prompt=None, **more), ("./pi",))
        end = anyio.run(partial(run_wrapped, order, Settings(), paths, front=front, seat=seat))
        chain = [json.loads(line) for line in paths.audit_log(end.session).read_text().splitlines()]
        calls = [line["body"] for line in chain if line["type"] == "client_call"]
        return end, seat.said["stdout"].decode(), calls

    return run


def test_calls_are_judged_as_our_own_are(wrapped, front):
    """By command, by where a path lands, by name; each is in the chain before the answer."""
    end, said, calls = wrapped(
        f"""ask '{LS}'; ask '{PUSH}'
ask '{{"tool_name":"read","tool_input":{{"path":"/etc/shadow"}}}}'
ask '{{"tool_name":"write","tool_input":{{"path":"new","content":"x"}}}}'
ask '{{"tool_name":"fetch","tool_input":{{}}}}'
ask 'no JSON'; ask '{{"tool_name":"bash"}}'
""",
        policy="tools: {fetch: deny}\n",
        approve="deny",
    )
    codes = [line for line in said.splitlines() if line.startswith("code ")]

    assert end.exit_code == 0
    assert codes == ["code 0", "code 2", "code 2", "code 0", "code 2", "code 2", "code 2"]
    assert "risk:publishes" in said
    assert "tools.fetch is deny" in said
    assert [call["allowed"] for call in calls] == [True, False, False, True, False, False]
    assert calls[2]["request"]["resolved"] == "/etc/shadow"
    assert calls[1]["answer"]["by"] == "nobody"
    assert (
        "pi asks before each of its tools" in (front.of(SessionStart)[0].posture["facts"]["gate"])
    )


def test_person_is_asked_and_what_they_allow_is_expected(wrapped, front):
    """The command runs, and its start is no surprise; one that nobody was asked about is."""
    front.somebody = Somebody()
    _, said, calls = wrapped(
        f"""ask '{PUSH}'
git push origin x
git push origin y
""",
    )

    assert "code 0" in said
    assert front.somebody.asked == ["git push origin x"]
    assert calls[0]["answer"]["yes"] is True
    assert [event.argv for event in front.of(UnexpectedExec)] == [("git", "push", "origin", "y")]


def test_odd_text_is_judged_and_ends_nothing(wrapped):
    """Half characters, control characters, numbers without end."""
    end, said, calls = wrapped(
        r"""ask '{"tool_name":"bash","tool_input":{"command":"echo \ud800 \u0000"}}'
ask '{"tool_name":"write","tool_input":{"path":"a\udfff","content":"\ud800\u0007"}}'
ask '{"tool_name":"bash","tool_input":{"command":"ls","n":1e999}}'
ask '{"tool_name":"\ud800","tool_input":{"x":NaN}}'
ask '{"tool_name":"bash","tool_input":{"command":"ls"}}'
"""
    )

    assert end.exit_code == 0
    assert said.splitlines()[-1] == "code 0"
    assert len(calls) >= 3


def test_many_ask_at_once(wrapped):
    """One that waits for a person holds no other up."""
    _, said, calls = wrapped(
        f"""for n in 1 2 3 4 5 6 7 8 9 10 11 12; do ask '{LS}' & done; wait
"""
    )

    assert said.count("code 0") == 12
    assert len(calls) == 12


def test_gate_that_was_ended_refuses(wrapped, front):
    """By whoever in the box: no answer is no."""
    _, said, calls = wrapped(
        f"""pkill -f gate_relay; sleep 0.3; ask '{LS}'
"""
    )

    assert "code 2" in said
    assert calls == []
    assert "its end in the box is gone" in front.of(ErrorRaised)[0].message


def test_its_own_start_ends_nothing(wrapped, front):
    """Also where policy has everything ended that was not foreseen."""
    end, said, _ = wrapped(f"ask '{LS}'; echo after\n", policy="commands: {unexpected: end}\n")

    assert end.exit_code == 0
    assert "after" in said
    assert front.of(UnexpectedExec) == []


def test_long_contents_are_recorded_by_digest(wrapped):
    """A program that asks about much cannot fill the host's disk."""
    end, said, calls = wrapped(
        """content=$(head -c 100000 /dev/zero | tr '\\0' x)
printf '{"tool_name":"write","tool_input":{"path":"big","content":"%s"}}' "$content" > call
/opt/glovebox/toolserver/glovebox-gate pi < call; echo "code $?"
"""
    )

    assert "code 0" in said
    assert calls[0]["request"]["content"]["characters"] == 100_000
    assert calls[0]["request"]["path"] == "/workspace/big"
    assert end.exit_code == 0


def test_more_than_policy_lets_in_a_minute_wait(wrapped):
    """They get no answer before the program's own time is over."""
    end, said, calls = wrapped(
        f"""for n in 1 2 3 4; do ask '{LS}'; done
""",
        policy="limits: {tool_calls_per_minute: 3, wall_time: 4s}\n",
    )

    assert said.count("code 0") == 3
    assert len(calls) == 3
    assert end.status == "limit"
