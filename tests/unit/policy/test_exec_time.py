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
    path = path or f"/usr/bin/{argv[0]}"
    return ExecSeen(pid, parent, path, argv, **{"real": path, "by": "/usr/bin/make"} | more)


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
    git, sh = "/usr/bin/git", "/usr/bin/sh"
    force = ("git", "push", "--force")

    assert expected.unforeseen(seen(*PUSH, pid=5)) is None
    assert expected.unforeseen(seen("sh", "-c", "x", pid=6, parent=5, by=git)) is None
    assert expected.unforeseen(seen(*force, pid=7, parent=6, by=sh)) is None
    assert expected.unforeseen(seen(*force, pid=8, parent=1, by=git)) is not None


def test_start_that_failed_covers_nothing(judge):
    """The process runs on as what it was, whatever it asked for: by its file it is told apart."""
    expected = expect(judge, "rm -rf build; make")
    python = "/usr/bin/python3.11"
    force = ("git", "push", "--force")
    missing = seen("rm", "-rf", "build", pid=5, path="/nowhere/rm", real="", by=python)
    too_long = seen("rm", "-rf", "build", pid=6, by=python)

    assert expected.unforeseen(missing) is None
    assert expected.unforeseen(seen(*force, pid=5, by=python)) is not None
    assert expected.unforeseen(too_long) is None
    assert expected.unforeseen(seen(*force, pid=6, by=python)) is not None
    assert expected.unforeseen(seen(*force, pid=7, parent=6, by=python)) is not None


@pytest.mark.parametrize(
    ("command", "started"),
    [
        ("timeout 60 make all", ("timeout", "5", "git", "push", "--force")),
        ("env A=1 make c", ("env", "git", "push")),
        ('git log "$X"; make b', ("git", "push", "--force")),
        ("git push origin main; make", ("git", "push", "--force", "origin", "main")),
        ("rm -rf build; make", ("rm", "-rf", "src")),
        ('rm -rf "$X"; make', ("rm", "-rf", "a", "b")),
        ("sh -c 'git push a b'; make", ("sh", "-c", "git push c d")),
    ],
)
def test_same_program_with_other_arguments_is_a_surprise(judge, command, started):
    """What the text shows is the program with these arguments, not its name."""
    assert expect(judge, command).unforeseen(seen(*started)) is not None


@pytest.mark.parametrize(
    ("command", "started"),
    [
        ('rm -rf "$X"', ("rm", "-rf", "a b")),
        ("rm -rf $X", ("rm", "-rf", "a", "b")),
        ("rm -rf *.d", ("rm", "-rf", "a.d", "b.d")),
        ("ls -d *.d | xargs rm -rf", ("rm", "-rf", "a.d", "b.d")),
        ("timeout 5 rm -rf build", ("timeout", "5", "rm", "-rf", "build")),
        ("env A=1 git push", ("env", "A=1", "git", "push")),
        ("find . -name x -exec rm -rf {} +", ("rm", "-rf", "./x", "./y/x")),
    ],
)
def test_arguments_that_are_open_in_the_text_may_be_anything(judge, command, started):
    """As many as could stand there, also below what only runs another program."""
    assert expect(judge, command).unforeseen(seen(*started)) is None


@pytest.mark.parametrize(
    "started",
    [
        seen("./x", path="./x", real="/workspace/x", lines=("/usr/bin/git push",)),
        seen("./x", "a", path="./x", real="/workspace/x", lines=("/usr/bin/rm -rf",)),
        seen("./x", path="./x", real="/workspace/x", lines=("./y", "/usr/bin/git push")),
        seen("./x", path="./x", real="/workspace/x", lines=("/usr/bin/env -S git push",)),
        seen("bar", "push", path="/tmp/bar", real="/usr/bin/git"),
        seen("zzz", path="", real="/memfd:zzz (deleted)"),
        seen("git", *("-C", ".") * 200, cut=True),
        seen("git", *("-C", ".") * 200, "-C", cut=True),
        seen("git", "-c", "a.b=" + "x" * 50, cut=True),
    ],
    ids=[
        "line",
        "line-argument",
        "line-twice",
        "line-env",
        "link",
        "no-file",
        "cut",
        "cut-value",
        "cut-word",
    ],
)
def test_program_behind_another_is_a_surprise(judge, started):
    """The interpreter a script names, the file a link leads to, what was cut off or is no file."""
    assert expect(judge, "make").unforeseen(started) is not None


def test_reading_what_starts_costs_the_host_so_much_and_no_more(judge):
    """A box must not keep the host busy; what is not read is said to be unknown."""
    expected = expect(judge, "make")
    found = [expected.unforeseen(seen("true", f"{number}" * 4000)) for number in range(100, 500)]

    assert found[0] is None
    assert found[-1].rule == UNSEEN
    assert expected.unforeseen(seen("true", "100" * 4000)) is not None


def test_long_harmless_program_is_no_surprise(judge):
    """Linkers are given thousands of files."""
    assert expect(judge, "make").unforeseen(seen("ld", *("a.o",) * 900, cut=True)) is None


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
