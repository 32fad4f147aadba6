"""What a session brings along, and what it may not."""

import pytest

from orchestrator.config.assets import asset
from orchestrator.errors import ConfigError, UsageError
from orchestrator.harness.luggage import check_environment, check_luggage, with_read_roots
from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.redaction.redactor import Redactor
from orchestrator.schema.request import ReadRequest


def policy_of(tmp_path, text=""):
    path = tmp_path / "p.yaml"
    path.write_text(f"version: 1\nname: p\nextends: [default]\n{text}")
    return load_policy([str(path)], search=asset("policies"), user_file=None)


@pytest.mark.parametrize(
    "value",
    ["sk-ant-api03-" + "a1B2" * 20, "the-known-key-of-this-host", "x=the-known-key-of-this-host"],
)
def test_variable_that_holds_a_secret_is_refused(value):
    """Known keys anywhere in it, and the well-known shapes; the value is not repeated."""
    with pytest.raises(ConfigError) as caught:
        check_environment({"NAME": value}, Redactor({"key-1": "the-known-key-of-this-host"}))

    assert "--env NAME" in caught.value.message
    assert value not in caught.value.message


def test_plain_variables_pass():
    """Words, numbers and paths."""
    check_environment({"CI": "1", "MODE": "debug", "DATA": "/workspace/data"}, Redactor({}))


def test_policy_can_deny_further_directories(tmp_path, options, paths):
    """A closed policy is not opened by a flag."""
    policy = policy_of(tmp_path, "workspace: {add_dirs: deny}\n")
    (tmp_path / "lib").mkdir()

    with pytest.raises(ConfigError, match="--add-dir"):
        check_luggage(options(add_dirs=(tmp_path / "lib",)), policy, state=paths.state)


def test_system_directories_and_parts_of_the_project_are_no_luggage(tmp_path, options, paths):
    """What could not be a project is no further directory; the project is in the box already."""
    policy = policy_of(tmp_path)
    with pytest.raises(UsageError, match="--add-dir /etc"):
        check_luggage(options(add_dirs=(tmp_path.__class__("/etc"),)), policy, state=paths.state)

    inside = options().directory / "src"
    with pytest.raises(ConfigError, match="part of the project"):
        check_luggage(options(add_dirs=(inside,)), policy, state=paths.state)


def test_file_tools_may_read_them(tmp_path, options):
    """And nothing beside them."""
    policy = with_read_roots(policy_of(tmp_path), options(add_dirs=(tmp_path / "lib",)))

    def effect(path):
        return evaluate(policy, ReadRequest(path, resolved=path), tool="read").effect

    assert effect("/dirs/lib/a.py") == "allow"
    assert effect("/dirs/other/a.py") == "deny"
