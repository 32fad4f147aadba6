"""Settings on a command line."""

import pytest

from tests.support.shell_reading import risks


@pytest.mark.parametrize(
    "form", ["git -c {}=./x status", "git config {} ./x", "git clone -c {}=./x r"]
)
@pytest.mark.parametrize("key", ["core.pager", "CORE.SSHCOMMAND", "diff.a.textconv", "gpg.program"])
def test_key_that_names_a_program_is_found(form, key):
    """Whatever the case and the way it is set."""
    assert "remote_code" in risks(form.format(key))


@pytest.mark.parametrize(
    "command",
    [
        "git -c core.pager=cat log",
        "git -c color.ui=always diff",
        "git config user.name x",
        "git config --get core.pager",
        "git config pull.rebase true",
        "git -c core.fsmonitor=false status",
        "ssh -o StrictHostKeyChecking=no -V",
    ],
)
def test_plain_setting_is_fine(command):
    """Names, colours and harmless programs."""
    assert risks(command) == set()


def test_unknown_key_stored_for_good_is_persistence():
    """The repository's settings outlive the session."""
    assert risks("git config some.thing x") == {"persistence"}


@pytest.mark.parametrize("value", ["push", "'!git push'"])
def test_alias_is_read_as_what_it_runs(value):
    """A short name hides nothing."""
    assert "publishes" in risks(f"git config alias.x {value}")


def test_key_that_is_not_static_is_opaque():
    """Nobody can say what it sets."""
    assert "opaque" in risks('git -c "$K=v" status')


@pytest.mark.parametrize(
    "form", ["-o ProxyCommand=./x", "-oProxyCommand=./x", "-o 'proxycommand ./x'"]
)
def test_ssh_option_that_runs_something_is_found(form):
    """Glued, apart, with a blank instead of the equals sign."""
    assert "remote_code" in risks(f"ssh {form} h.example")
