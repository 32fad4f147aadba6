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
