import pytest
import yaml

from orchestrator.workspace.host_effects import (
    FLAGS,
    NEWLY_EXECUTABLE,
    effect_on_host,
    effects_table,
    gained_execution,
)
from orchestrator.workspace.node import Change, Node

ENTRIES = yaml.safe_load(FLAGS.read_text("utf-8"))


@pytest.mark.parametrize(
    ("path", "why"), [(path, entry["why"]) for entry in ENTRIES for path in entry["examples"]]
)
def test_each_example_of_the_table_is_flagged_for_its_reason(path, why):
    """At the top and in any directory, whatever the case."""
    table = effects_table(())

    assert effect_on_host(path, table) == why
    assert effect_on_host(f"deep/er/{path}".upper(), table) == why


def test_gained_execution_is_a_flag_and_kept_execution_is_none():
    """A program that was one before is no news."""
    plain, program = Node("file", 0o644), Node("file", 0o755)

    assert gained_execution(Change("a", "added", None, program)) == NEWLY_EXECUTABLE
    assert gained_execution(Change("a", "mode", plain, program)) == NEWLY_EXECUTABLE
    assert gained_execution(Change("a", "modified", program, program)) == ""
    assert gained_execution(Change("a", "mode", program, plain)) == ""
    assert gained_execution(Change("d", "added", None, Node("directory", 0o755))) == ""


@pytest.mark.parametrize(
    ("path", "word"),
    [
        (".vscode/tasks.json", "editor"),
        ("sub/.envrc", "entering"),
        ("package.json", "package"),
        ("web/package.json", "package"),
        (".husky/pre-commit", "hook"),
        (".github/workflows/ci.yml", "integration"),
        ("CLAUDE.md", "agent"),
        (".devcontainer/devcontainer.json", "container"),
        ("Makefile", "build"),
        ("tests/conftest.py", "build"),
        ("vite.config.ts", "build"),
        (".gitattributes", "git settings"),
    ],
)
def test_file_that_something_obeys_is_named_by_what_does(path, word):
    """The word tells the person who would run it."""
    assert word in effect_on_host(path, effects_table(()))


@pytest.mark.parametrize("path", ["src/app.py", "README.md", "make.py", ".gitignore", "vscode/x"])
def test_ordinary_file_is_not_named(path):
    """Most files are only read."""
    assert effect_on_host(path, effects_table(())) == ""


@pytest.mark.parametrize(
    ("before", "after", "flagged"),
    [
        (0o644, 0o755, True),
        (0o644, 0o654, True),
        (0o644, 0o645, True),
        (0o611, 0o755, True),
        (0o755, 0o755, False),
        (0o700, 0o755, False),
        (0o744, 0o755, False),
        (0o755, 0o700, False),
        (0o664, 0o644, False),
        (0o600, 0o666, False),
        (0o100, 0o111, False),
        (0o755, 0o677, False),
    ],
)
@pytest.mark.parametrize("size", [0, 1])
def test_other_umask_gains_nothing_and_the_owner_s_bit_does(before, after, flagged, size):
    """An empty file counts like any other: it may be filled later without a further question."""
    old, new = Node("file", before, size=size), Node("file", after, size=size)

    assert gained_execution(Change("a", "mode", old, new)) == (NEWLY_EXECUTABLE if flagged else "")


def test_program_that_moved_is_no_new_one():
    """It had the same content and could be started before; a copy of plain content could not."""
    new = Node("file", 0o755)
    change = Change("b", "added", None, new, renamed_from="a")

    assert gained_execution(change, Node("file", 0o755)) == ""
    assert gained_execution(change, Node("file", 0o644)) == NEWLY_EXECUTABLE
    assert gained_execution(change) == NEWLY_EXECUTABLE


def test_link_that_became_a_program_is_a_new_one():
    """What the link led to says nothing."""
    change = Change("a", "type", Node("symlink", 0o777, target="b"), Node("file", 0o755))

    assert gained_execution(change) == NEWLY_EXECUTABLE
