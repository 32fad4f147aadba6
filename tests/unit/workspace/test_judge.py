import pytest

from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.host_effects import effects_table
from orchestrator.workspace.judge import Rules, judge, link_refusal
from orchestrator.workspace.node import Change, Limits, Node

FILE = Node("file", 0o644, size=1, sha256="x")


def judged(path: str, new: Node | None = FILE, kind="added", **rules) -> Change:
    made = Rules(
        protected=path_globs(rules.get("protected", ())),
        hidden=path_globs(rules.get("hidden", ())),
        effects=effects_table(rules.get("hooks", ())),
        limits=Limits(file_bytes=10),
        on_host=lambda _path: False,
    )
    return judge([Change(path, kind, None, new)], made)[0]


@pytest.mark.parametrize(
    ("path", "new", "words"),
    [
        (".git/hooks/x", FILE, "inside .git"),
        ("sub/.Git/config", FILE, "inside .git"),
        (".glovebox-apply-1", FILE, "reserved"),
        (".glovebox-apply-1/2", FILE, "reserved"),
        ("f", Node("fifo", 0o644), "fifo"),
        ("f", Node("socket", 0o644), "socket"),
        ("f", Node("device", 0o644), "device"),
        ("f", Node("file", 0o644, size=11), "more than the limit"),
        ("f", Node("file", 0o644, trouble="cannot be read"), "cannot be read"),
        ("f", Node("symlink", 0o777, target="/x"), "absolute"),
    ],
)
def test_what_must_never_reach_the_host_is_refused(path, new, words):
    """Each kind of danger has its own words."""
    assert words in judged(path, new).refused


def test_hidden_path_is_refused_even_as_a_deletion():
    """What the box never saw it can neither write nor remove."""
    assert "hides" in judged("a/.env", hidden=["**/.env"]).refused
    assert "hides" in judged("a/.env", None, "deleted", hidden=["**/.env"]).refused


def test_protected_path_is_flagged_at_any_depth():
    """A flag is no refusal: a person may say yes."""
    change = judged("sub/.vscode/tasks.json", protected=[".vscode/**"])

    assert change.protected
    assert not change.refused
    assert not judged("sub/.vscodex/a", protected=[".vscode/**"]).protected


@pytest.mark.parametrize(
    "path",
    [".envrc.", ".ENVRC ", "sub/.envrc::$DATA", ".envrc:x", "ENVRC~1", ".vscode./tasks.json",
     "sub\\.vscode\\tasks.json", "VSCODE~2/tasks.json", ".e\u200cnvrc", ".github/WORKFL~1/ci.yml",
     "en0a1b~5", "GITHUB~1/workflows /ci.yml"],
)  # fmt: skip
def test_name_that_windows_opens_as_a_protected_one_is_protected(path):
    """Whatever file system it comes to; what the name is taken for is said."""
    change = judged(path, protected=[".envrc", ".vscode/**", ".github/workflows/**"])

    assert change.protected
    assert change.runs_on_host
    assert "\u200c" in path or any("Windows opens" in note for note in change.notes)


def test_name_that_windows_may_take_for_too_many_is_protected():
    """Nobody can look at each."""
    path = "/".join([*["GITHUB~1"] * 9, "WORKFL~1", "x"])

    assert judged(path, protected=[".github/workflows/**"]).protected


@pytest.mark.parametrize("path", ["envrc", "ENVRC~", "notes~1", "a.envrc", "x ", "VSCODX~1/a"])
def test_name_that_windows_takes_for_no_protected_one_is_not(path):
    """Odd names are not protected for being odd."""
    change = judged(path, protected=[".envrc", ".vscode/**"])

    assert not change.protected
    assert change.notes == ()


def test_other_name_of_a_hidden_path_asks_for_a_yes():
    """It is a file of its own here, and would replace the hidden one elsewhere."""
    change = judged("ENV~1", hidden=["**/.env"])

    assert change.protected
    assert not change.refused


def test_own_hook_directory_of_the_repository_runs_on_the_host():
    """core.hooksPath makes any directory one of hooks."""
    assert judged("tools/gh/pre-commit", hooks=["tools/gh"]).runs_on_host == "git hook"
    assert judged("tools/gh/pre-commit").runs_on_host == ""


def test_dropped_bits_and_hard_links_are_noted():
    """The person is told what will be different."""
    notes = judged("f", Node("file", 0o6755, links=2)).notes

    assert ["set-user-id" in notes[0], "hard link" in notes[1]] == [True, True]


def test_link_may_climb_as_far_as_the_top():
    """``..`` in front is exact, because the directories above a change are no links."""
    assert link_refusal("a/b/link", "../../top") == ""
    assert "out of the directory" in link_refusal("a/b/link", "../../../top")


def test_program_that_moved_is_not_newly_executable():
    """The two halves of a rename are looked at together."""
    program = Node("file", 0o755, size=1, sha256="x")
    rules = Rules(path_globs(()), path_globs(()), (), Limits(), lambda _path: False)
    moved = [
        Change("new", "added", None, program, renamed_from="old"),
        Change("old", "deleted", program, None, renamed_to="new"),
    ]
    alone = [Change("new", "added", None, program)]

    assert [change.runs_on_host for change in judge(moved, rules)] == ["", ""]
    assert [change.runs_on_host for change in judge(alone, rules)] == ["newly executable"]
