"""Every case of tests/cases/prompt.yaml, at a real terminal, in the corridor, and elsewhere."""

import json
import unicodedata
from pathlib import Path

import anyio
import pytest
import yaml

from orchestrator.cli.render import GUTTER, Progress
from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.confirmation.gate import Answer
from orchestrator.confirmation.grants import Grants
from orchestrator.confirmation.inbox import Inbox
from orchestrator.confirmation.memory import RememberingConfirmer
from orchestrator.confirmation.question_text import FRAME, render_question
from orchestrator.confirmation.record import question_of, record_of
from orchestrator.policy.evaluate import evaluate
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.decision import Decision
from orchestrator.schema.event import ToolEnd
from orchestrator.schema.request import ExecRequest
from tests.support.asking import Someone, ask, no, question, yes
from tests.support.corridor import call, open_corridor, verdict
from tests.support.pty_person import Seat

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "prompt.yaml").read_text("utf-8"))
CHECKS = {}


def case(name):
    """Register the check of one case."""

    def keep(check):
        CHECKS[name] = check
        return check

    return keep


@pytest.mark.parametrize("name", [item["id"] for item in CASES])
def test_case_holds(name, tmp_path):
    """What the corpus expects; a case without a check fails."""
    CHECKS[name](tmp_path)


def seen(asked, *keys, size=(80, 24), **options):
    """Return the answer at a real terminal and the seat, after the checks that hold for all."""
    seat = Seat(size)
    try:
        answer = seat.ask(asked, keys, **options)
    finally:
        seat.close()
    assert seat.strange() == set()
    return answer, seat


def elsewhere(asked):
    """Return what the inbox and a webhook's receiver are given to show."""
    record = record_of(asked, expires=None)
    return "\n".join(render_question(question_of(record), 100))


def is_plain(text):
    """Say whether every character shows as itself and moves no cursor."""
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp", "Co"}
    return not any(unicodedata.category(char) in hidden for char in text if char != "\n")


def shows_escaped(command, *escapes, warning="hidden or control characters"):
    """Check the terminal, the inbox and the webhook's text alike."""
    asked = question(command, reason="sends")
    _, seat = seen(asked, "n\r")
    for shown in (seat.quoted(), elsewhere(asked)):
        joined = shown.replace("\n┃   ", "")
        for escape in escapes:
            assert escape in joined, (escape, joined)
        assert is_plain(shown)
        assert warning in shown.replace("\n┃ ", " ")


@case("prompt-ctl-01")
def _(_tmp_path):
    shows_escaped("echo ok\x1b[2K\x1b[1A\nls; git push", r"echo ok\x1b[2K\x1b[1A", "git push")


@case("prompt-ctl-02")
def _(_tmp_path):
    shows_escaped("git push --force\recho harmless", r"git push --force\recho harmless")


@case("prompt-ctl-04")
def _(_tmp_path):
    shows_escaped("echo a\x9b2Kb\x9d0;x\x07", r"\x9b2K", r"\x9d0;x\x07")


@case("prompt-ctl-05")
def _(_tmp_path):
    text = "echo \u202eevil\u2066a\u2067b\u2068c\u2069"
    escapes = (r"\u202e", r"\u2066", r"\u2067", r"\u2068", r"\u2069")
    shows_escaped(text, *escapes, warning="characters that reverse the direction of text")


@case("prompt-ctl-09")
def _(_tmp_path):
    words = "fine\x1b[2J\x9b1A\u202e"
    asked = question("git push", reason=words, notes=(words,), hint=words)
    _, seat = seen(asked, "n\r")
    for shown in (seat.quoted(), elsewhere(asked)):
        assert r"why asked: fine\x1b[2J\x9b1A\u202e" in shown
        assert r"also: fine\x1b[2J\x9b1A\u202e" in shown
        assert is_plain(shown)


def progress_of(output):
    written = []
    show = Progress(written.append, colour=False, columns=lambda: 80)
    show(ToolEnd("c", "bash", is_error=False, output=output, details={}, duration_ms=1.0))
    return "".join(written)


@case("prompt-out-01")
def _(_tmp_path):
    assert progress_of("\x1b]52;c;ZXZpbA==\x07") == f"{GUTTER}\\x1b]52;c;ZXZpbA==\\x07\n"


@case("prompt-out-02")
def _(_tmp_path):
    shown = progress_of("\x1b]0;y\x07\x1b[21t\x1b]2;yes\x1b\\")

    assert is_plain(shown)
    assert r"\x1b[21t" in shown


@case("prompt-out-06")
def _(_tmp_path):
    shown = progress_of("remote: Counting\x1b[1A\x1b[2K\rremote: done \x9b5n")

    assert is_plain(shown)
    assert r"\x1b[1A\x1b[2K\rremote: done \x9b5n" in shown


@case("prompt-out-08")
def _(_tmp_path):
    _, seat = seen(question("git push origin main"), "y\r")
    box = [line for line in seat.lines() if line]
    shown = progress_of("\n".join([*box[:8], "Approved"])).splitlines()

    assert FRAME.strip() in box[0]
    assert all(line.startswith(GUTTER) for line in shown)
    assert FRAME.strip() not in "".join(shown)


@case("prompt-full-01")
def _(_tmp_path):
    command = "git push origin " + "x" * 114
    answer, seat = seen(question(command), "y\r", size=(80, 40))

    assert len(command) == 130
    assert answer.yes
    before, _, _ = seat.quoted().partition("[reason] = no (default)")
    assert command in before


@case("prompt-full-02")
def _(_tmp_path):
    script = "\n".join(f"echo line-{number}" for number in range(60))
    early, first = seen(question(script), "y\r", "y\r", "y\r", "n\r")
    late, second = seen(question(script), *["\r"] * 9, "y\r")
    for asked, seat in ((early, first), (late, second)):
        # A yes before the end only turns the page.
        assert not asked.yes or "echo line-59" in seat.text()
    assert not early.yes
    assert not late.yes  # more pages than keys: nobody answered
    pages = second.text().count("more lines: Enter shows them")
    done, third = seen(question(script), *["\r"] * pages, "y\r")
    assert done.yes
    assert all(f"echo line-{number}" in third.text() for number in range(60))


@case("prompt-full-05")
def _(_tmp_path):
    asked = question("ls" + " " * 300 + "; rm -rf src")
    _, seat = seen(asked, "n\r")
    for shown in (seat.quoted(), elsewhere(asked)):
        assert "[… 300 blanks …]" in shown
        assert "; rm -rf src" in shown


@case("prompt-full-07")
def _(_tmp_path):
    for command in ("", "  ", "\n\t\n"):
        asked = question(command)
        answer, seat = seen(asked, "\r")
        assert not answer.yes
        assert "warning: the command is empty" in seat.quoted()
        assert "warning: the command is empty" in elsewhere(asked)


@case("prompt-bind-01")
def _(tmp_path):
    shown = []

    class Swapping(Someone):
        """The model's own copy of the arguments changes while the person reads."""

        async def ask(self, question, *, timeout_s):
            shown.append((question.subject, question.digest))
            arguments["command"] = "rm -rf /"
            return await super().ask(question, timeout_s=timeout_s)

    box = ScriptedBox({"git push A": Reply("pushed")})
    person = Swapping(yes(), no())
    corridor = open_corridor(tmp_path, box, evaluate=verdict("ask"), confirmer=person)
    first = call("bash", 1, command="git push A")
    arguments = first.arguments

    anyio.run(corridor.dispatcher.dispatch, [first])
    anyio.run(corridor.dispatcher.dispatch, [call("bash", 2, command="git push B")])

    assert [request.command for request in box.requests] == ["git push A"]
    assert [subject for subject, _ in shown] == ["git push A", "git push B"]
    assert corridor.bodies("intent")[0]["digest"] == shown[0][1]


@case("prompt-bind-04")
def _(_tmp_path):
    answer, _ = seen(question("git push"), before="y\r", timeout_s=0.5)

    assert (answer.yes, answer.by) == (False, "timeout")


def standing(tmp_path, first, *others):
    """Say yes to the first for the session, as wide as it can be, and return who answers the rest."""
    asked = question(first)
    person = Someone(yes("session", widened=True), *[no()] * len(others))
    grants, inbox = Grants(tmp_path / "g"), Inbox(tmp_path / "q")
    confirmer = RememberingConfirmer(person, grants=grants, inbox=inbox)
    answers = ask(confirmer, asked, *[question(other) for other in others])
    return [answer.yes for answer in answers[1:]]


@case("prompt-scope-01")
def _(tmp_path):
    others = ["npm test", 'bash -lc "npm test"', 'bash -lc "rm -rf ~"', 'bash -lc "npm testx"']

    assert standing(tmp_path, 'bash -lc "npm test"', *others) == [True, True, False, False]
    _, seat = seen(question('bash -lc "npm test"'), "n\r")
    assert "however it is written: npm test" in seat.quoted()


@case("prompt-scope-02")
def _(tmp_path):
    for number, (first, other) in enumerate(
        [
            ("python -c 'print(1)'", "python -c 'print(2)'"),
            ("awk '{print}' x", "awk 'BEGIN{system(\"id\")}' x"),
        ]
    ):
        assert standing(tmp_path / str(number), first, first, other) == [True, False]
        _, seat = seen(question(first), "s*\r")
        assert "however it is written" not in seat.quoted()
        assert "not understood: no." in seat.text()


@case("prompt-scope-06")
def _(tmp_path):
    person = Someone(*[yes("session")] * 20)
    grants, inbox = Grants(tmp_path / "g"), Inbox(tmp_path / "q")
    confirmer = RememberingConfirmer(person, grants=grants, inbox=inbox)
    box = ScriptedBox({"make deploy": Reply("ok")})
    corridor = open_corridor(
        tmp_path, box, evaluate=verdict("ask", always=True), confirmer=confirmer
    )
    for number in range(20):
        anyio.run(corridor.dispatcher.dispatch, [call("bash", number, command="make deploy")])

    assert (len(person.asked), len(box.requests)) == (20, 20)


@case("prompt-fail-01")
def _(tmp_path):
    box = ScriptedBox({"git push": Reply("pushed")})
    corridor = open_corridor(tmp_path, box, evaluate=verdict("ask"), confirmer=NobodyConfirmer())
    (result,) = anyio.run(corridor.dispatcher.dispatch, [call("bash", command="git push")])

    assert result.is_error
    assert "nobody could be asked" in result.output
    assert box.requests == []


@case("prompt-fail-02")
def _(tmp_path):
    def broken(*_, **__):
        raise RuntimeError("a bug in the gate")

    class Policy:
        layers, box = (), None

    def decide(request: ExecRequest, tool: str) -> Decision:
        return evaluate(Policy(), request, tool=tool, read=broken)

    box = ScriptedBox({"ls": Reply("x")})
    person = Someone(yes())
    corridor = open_corridor(tmp_path, box, evaluate=decide, confirmer=person)
    (result,) = anyio.run(corridor.dispatcher.dispatch, [call("bash", command="ls")])

    assert result.is_error
    assert (box.requests, person.asked) == ([], [])
    (refused,) = corridor.bodies("refused")
    assert refused["decision"]["rule"] == "gate-error"
    assert json.dumps(refused["decision"]["reason"])


@case("prompt-fail-05")
def _(tmp_path):
    for number, (key, hang_up) in enumerate(
        [("\x03", False), ("\x1b", False), ("\x04", False), ("", True)]
    ):
        seat = Seat((80, 40))

        class AtSeat(Someone):
            async def ask(self, question, *, timeout_s):  # noqa: ARG002 - the Protocol's form
                keys = [key] if key else []  # noqa: B023 - asked within this turn of the loop
                return await anyio.to_thread.run_sync(
                    lambda: seat.ask(question, keys, hang_up=hang_up)  # noqa: B023 - the same
                )

        box = ScriptedBox({"git push": Reply("pushed"), "ls": Reply("there")})

        def decide(request, tool):  # noqa: ARG001 - the policy's form
            effect = "ask" if "push" in request.command else "allow"
            return Decision(effect, "r", "session", "x")

        folder = tmp_path / str(number)
        corridor = open_corridor(folder, box, evaluate=decide, confirmer=AtSeat())
        calls = [call("bash", 1, command="git push"), call("bash", 2, command="ls")]
        refused, went_on = anyio.run(corridor.dispatcher.dispatch, calls)
        seat.close()

        assert refused.is_error
        assert went_on.output == "there"
        assert [request.command for request in box.requests] == ["ls"]


def test_answer_is_told_apart_from_silence():
    """The seat itself works: a yes is a yes, and no key at all is none."""
    assert seen(question("git push"), "y\r", size=(80, 40))[0].yes
    assert isinstance(seen(question("git push"), timeout_s=0.2)[0], Answer)
