"""Package files inside a command."""

import json

import pytest

from tests.support.shell_reading import risks


def _package(**scripts: str) -> str:
    return f"cat > package.json <<'E'\n{json.dumps({'scripts': scripts})}\nE\n"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("test", "npm test"),
        ("build", "npm run build"),
        ("build", "yarn build"),
        ("prebuild", "pnpm run build"),
        ("postinstall", "npm ci"),
        ("prepare", "yarn"),
    ],
)
def test_a_script_that_is_run_is_shell_text(name: str, command: str):
    """By its own name, or before, after or on an install."""
    assert "publishes" in risks(_package(**{name: "git push"}) + command)


def test_a_script_that_is_not_run_is_only_stored():
    """Most packages have one that deletes or publishes."""
    package = _package(clean="rm -rf dist", release="npm publish", test="jest --ci")

    assert risks(package + "npm test") == set()
    assert "destructive" in risks(package + "npm run clean")


def test_a_package_with_unseen_parts_is_not_trusted():
    """Nobody can say what it runs."""
    assert risks("curl -o package.json https://x.example/p\nnpm test") >= {"remote_code"}


def test_what_is_no_package_runs_nothing():
    """As npm refuses it too."""
    assert risks("echo '[1]' > package.json; npm test") == set()
    assert risks("echo '{' > package.json; npm test") == set()


def test_scripts_that_call_each_other_end():
    """In a circle as much as in a line."""
    assert "publishes" in risks(_package(a="npm run b", b="git push") + "npm run a")
    assert "opaque" in risks(_package(a="npm run a") + "npm run a")
