from orchestrator.workspace.commit_set import judge_commits, judge_files
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.host_effects import effects_table
from orchestrator.workspace.judge import Rules
from orchestrator.workspace.node import Limits
from orchestrator.workspace.raw_commits import RawCommit, RawFile

RULES = Rules(
    path_globs([".envrc"]),
    path_globs([".env"]),
    effects_table(()),
    Limits(),
    {"kept/HEAD"}.__contains__,
)


def flags(*files, targets=None):
    found = judge_files(
        [RawFile("c", path, mode, "b") for path, mode in files], RULES, (targets or {}).__getitem__
    )
    return {file.path: (file.protected, file.runs_on_host) for file in found}


def test_gravest_version_of_a_path_counts():
    """A later harmless commit does not wash out an earlier one: both are in the history."""
    assert flags(("x", 0o100644), ("x", 0o100755), ("x", 0o100644)) == {"x": ("", "program")}
    assert flags((".ENV", 0o100644), (".ENV", 0)) == {
        ".ENV": ("policy hides this path from the box", "")
    }


def test_links_and_submodules_are_guarded():
    """Both lead to what the commit itself does not hold."""
    targets = {"b": "../../etc/passwd"}

    assert flags(("a/l", 0o120000), targets=targets)["a/l"][0].startswith("it is a link that leads")
    assert flags(("sub", 0o160000))["sub"] == ("it is a submodule", "")
    assert flags(("a/l", 0o120000), targets={"b": "x"})["a/l"] == ("", "")


def test_deleted_protected_path_is_guarded_too():
    """To lose a hook or a setting is a change of it."""
    assert flags((".envrc", 0)) == {".envrc": ("policy protects it", "")}


def test_name_that_windows_opens_as_a_guarded_one_is_guarded():
    """A branch is checked out anywhere."""
    assert flags(("ENVRC~1", 0o100644)) == {
        "ENVRC~1": (
            "Windows opens '.envrc' for this name",
            "shell settings on entering the directory",
        )
    }
    assert flags((".env.", 0o100644))[".env."][0] == "Windows opens '.env' for this name"


def test_subject_is_the_first_line_even_of_an_empty_message():
    """No message breaks the list."""
    raw = [RawCommit("c", (), "a", "b", "t", text) for text in ("\n\nOne\ntwo", "", "\n")]

    assert [commit.subject for commit in judge_commits(raw)] == ["One", "", ""]


def test_bare_repository_as_plain_files_is_flagged():
    """Git would take its settings and hooks once somebody enters the directory."""
    names = ("x/HEAD", "x/objects/a", "x/refs/b", "x/config", "kept/config", "y", "y/config")
    found = flags(*((name, 0o100644) for name in names))

    assert found.pop("y") == found.pop("y/config") == ("", "")
    assert {effect for _, effect in found.values()} == {"git repository in plain sight"}
    assert all(guard for guard, _ in found.values())
