import pytest

from orchestrator.workspace.host_effects import effect_on_host, effects_table


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
