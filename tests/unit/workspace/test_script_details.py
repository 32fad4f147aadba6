import json

import pytest

from orchestrator.workspace.script_details import changed_scripts
from tests.support.workspaces import by_path, give, write

OLD = json.dumps({"version": "1", "scripts": {"test": "t", "build": "b"}})


@pytest.mark.parametrize(
    ("new", "names"),
    [
        ({"version": "2", "scripts": {"test": "t", "build": "b"}}, []),
        (
            {"scripts": {"test": "t", "postinstall": "evil"}},
            ["scripts.build", "scripts.postinstall"],
        ),
        ({"scripts": "odd"}, ["scripts"]),
        ([], ["scripts.build", "scripts.test"]),
    ],
)
def test_changed_scripts_are_named(new, names):
    """Also where the file's form is none that a package manager takes."""
    assert changed_scripts("package.json", OLD, json.dumps(new)) == names


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"a": 1,}'])
def test_what_cannot_be_parsed_is_told_apart_from_no_change(text):
    """A looser reader may still run something in it."""
    assert changed_scripts("package.json", OLD, text) is None


def test_build_hooks_of_python_are_named():
    """The build back end is a program."""
    new = '[build-system]\nrequires = ["evil"]\n[project]\nversion = "1"\n'

    assert changed_scripts("pyproject.toml", "", new) == ["build-system.requires"]


@pytest.mark.docker
def test_flag_of_a_package_file_tells_what_changed_in_it(any_desk):
    """New, changed and merely touched files."""
    write(any_desk.project, {"package.json": OLD, "sub/package.json": OLD})
    give(any_desk.project)
    workspace = any_desk.work(
        """sed -i s/1/2/ sub/package.json; sed -i 's/"t"/"evil"/' package.json
        echo '{"scripts": {"prepare": "x"}}' > src/package.json; echo '{' > composer.json"""
    )

    changes = by_path(any_desk.look(workspace))

    assert changes["package.json"].runs_on_host == "package scripts: scripts.test"
    assert changes["src/package.json"].runs_on_host == "package scripts: scripts.prepare"
    assert changes["sub/package.json"].runs_on_host == "package scripts, unchanged in it"
    assert changes["composer.json"].runs_on_host == "package scripts; it cannot be parsed"
