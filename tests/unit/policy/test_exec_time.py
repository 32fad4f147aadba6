"""What a command started, against what its text showed."""

import pytest

from orchestrator.policy.evaluate import evaluate_command
from orchestrator.policy.exec_time import UNSEEN, ExecJudge
from orchestrator.policy.load import load_policy
from orchestrator.schema.exec_record import ExecSeen
from orchestrator.schema.request import ExecRequest
from tests.unit.policy.conftest import SHIPPED

PUSH = ("git", "push", "origin", "main")


@pytest.fixture
def judge():
    policy = load_policy(["default"], search=SHIPPED, user_file=None)
    return ExecJudge(lambda request: evaluate_command(policy, request))


def seen(*argv, pid=2, parent=1, path=None, **more):
    return ExecSeen(pid, parent, path or f"/usr/bin/{argv[0]}", argv, **more)


ENSUREPIP = seen("python3", "-m", "ensurepip", pid=4, parent=3, path="/workspace/v/bin/python3")


def expect(judge, command):
    return judge.expect(ExecRequest(command, "/workspace", 1.0))


def test_program_that_the_text_hides_is_a_surprise(judge):
    """Policy would have asked about it, and nobody saw it coming."""
    decision = expect(judge, "make release").unforeseen(seen(*PUSH))

    assert decision.effect == "ask"
    assert "publishes" in decision.risks


@pytest.mark.parametrize(
    "started",
    [
        seen("gcc", "-c", "a.c"),
        seen("git", "status"),
        seen("rm", "-f", "a.o"),
        seen("sh", "-c", "echo hi"),
        seen("x" * 300, "\u202e"),
    ],
    ids=lambda item: item.argv[0][:8],
)
def test_what_policy_allows_is_no_surprise(judge, started):
    """Nor is a name that no rule knows, nor what is only odd to read."""
    assert expect(judge, "make").unforeseen(started) is None


@pytest.mark.parametrize(
    "command",
    [
        "git push origin main",
        "cd x && git push origin main",
        "sh -c 'git push origin main'",
        "git push origin $BRANCH",
        "timeout 5 git push origin main",
    ],
)
def test_what_the_text_shows_is_no_surprise(judge, command):
    """Whoever let it run knew of it, open arguments included."""
    assert expect(judge, command).unforeseen(seen(*PUSH)) is None


def test_other_risk_of_a_known_program_is_a_surprise(judge):
    """A yes to one thing is none to another that the same program can do."""
    hidden = expect(judge, "git status; make").unforeseen(seen(*PUSH))

    assert hidden is not None


def test_what_an_expected_program_starts_belongs_to_it(judge):
    """By descent, through programs that policy has nothing against."""
    expected = expect(judge, "git push origin main")

    assert expected.unforeseen(seen(*PUSH, pid=5)) is None
    assert expected.unforeseen(seen("sh", "-c", "x", pid=6, parent=5)) is None
    assert expected.unforeseen(seen("git", "push", "--force", pid=7, parent=6)) is None
    assert expected.unforeseen(seen("git", "push", "--force", pid=8, parent=1)) is not None


def test_part_of_a_program_is_no_surprise_below_it(judge):
    """Git serves one directory to another by itself, through a shell; anybody else is asked."""
    serving = ("git-upload-pack", "/workspace/r")
    expected = expect(judge, "git clone r r2")

    assert expected.unforeseen(seen("git", "clone", "r", "r2", pid=3)) is None
    assert expected.unforeseen(seen("sh", "-c", "git-upload-pack 'r'", pid=4, parent=3)) is None
    assert expected.unforeseen(seen(*serving, pid=5, parent=4)) is None
    assert expect(judge, "python3 -m venv v").unforeseen(ENSUREPIP) is not None
    python = expect(judge, "python3 -m venv v")
    assert python.unforeseen(seen("python3", "-m", "venv", "v", pid=3)) is None
    assert python.unforeseen(ENSUREPIP) is None
    assert expected.unforeseen(seen("sh", "-c", "git push", pid=6, parent=3)) is not None
    assert expect(judge, "make").unforeseen(seen(*serving)) is not None


@pytest.mark.parametrize(
    "started",
    [
        seen("innocent", *PUSH[1:], path="/usr/bin/git"),
        seen(*PUSH, path="/workspace/innocent"),
        seen("-git", *PUSH[1:], path="/usr/bin/git"),
    ],
    ids=["by-file", "by-name", "login"],
)
def test_program_that_lies_about_its_name_is_read_both_ways(judge, started):
    """By the file that is started, and by the name that many-in-one programs go by."""
    assert expect(judge, "make").unforeseen(started) is not None


def test_what_cannot_be_read_is_a_surprise(judge):
    """A process that shuts everybody out of its memory may start anything."""
    decision = expect(judge, "make").unforeseen(seen("?", unreadable=True))

    assert decision.rule == UNSEEN
    assert decision.effect == "ask"


def test_many_different_programs_are_not_remembered_for_ever(judge):
    """A build starts thousands; what is kept of them is bounded, and stays right."""
    expected = expect(judge, "make")
    for number in range(5000):
        assert expected.unforeseen(seen("gcc", f"{number}.c")) is None

    assert len(judge._known) <= 4096
    assert expected.unforeseen(seen(*PUSH)) is not None
