"""Variables for placeholders."""

import pytest

from orchestrator.errors import GloveboxError
from orchestrator.policy.box_variables import check_variable
from orchestrator.sandbox.way_environment import way_environment
from orchestrator.schema.way_out import WayOut


@pytest.mark.parametrize(
    "name",
    ["PATH", "HOME", "IFS", "LD_PRELOAD", "LD_BIND_NOW", "BASH_ENV", "ENV", "PYTHONPATH", "PYTHONSTARTUP",
     "NODE_OPTIONS", "NODE_PATH", "GIT_SSH_COMMAND", "GIT_DIR", "GIT_CONFIG_COUNT", "PERL5LIB", "RUBYOPT",
     "JAVA_OPTIONS", "SHELL", "EDITOR", "TMPDIR", "LC_ALL", "KUBECONFIG", "PIP_INDEX_URL"],
)  # fmt: skip
def test_what_steers_programs_holds_no_placeholder(name):
    """It would break them, and never be sent anywhere."""
    with pytest.raises(ValueError, match=f"variable '{name}' steers programs"):
        check_variable(name)


def test_no_variable_of_the_way_out_holds_one():
    """Whatever the box tells its programs of the way out stays as it is."""
    told = way_environment(WayOut(""), {})

    assert {"HTTPS_PROXY", "no_proxy", "SSL_CERT_FILE"} <= {*told}
    for name in told:
        with pytest.raises(ValueError, match=f"variable '{name}' is the box's own"):
            check_variable(name)


@pytest.mark.parametrize(
    "name",
    ["API_TOKEN", "GH_TOKEN", "GIT_TOKEN", "GIT_PASSWORD", "CARGO_REGISTRIES_ACME_TOKEN", "NPM_TOKEN", "T",
     "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "PIP_TOKEN", "PYTHON_SERVICE_LOGIN", "MyKey"],
)  # fmt: skip
def test_what_programs_read_a_key_from_holds_one(name):
    """Under whatever name they want it."""
    check_variable(name)


@pytest.mark.parametrize("name", ["PATH", "https_proxy"])
def test_a_policy_with_such_a_variable_does_not_load(layer, name):
    """With the line, and what was expected."""
    rule = f"id: r, hosts: a.example.com, effect: allow, inject: {{secret: s, header: h, variables: [{name}]}}"

    with pytest.raises(GloveboxError, match=rf"session.yaml:3: .*variable '{name}'.*API_TOKEN"):
        layer(f"network: {{rules: [{{{rule}}}]}}")
