"""What paths are."""

import pytest

from orchestrator.shell.places import is_private, is_root_or_home, is_secret, kind_of
from orchestrator.shell.scope import Places, Scope


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/workspace/a", None),
        ("/tmp/x", "own"),
        ("/dev/null", "harmless"),
        ("/dev/fd/3", "harmless"),
        ("/dev/sda", "device"),
        ("/dev/tcp/h/1", "socket"),
        ("/proc/sysrq-trigger", "device"),
        ("/workspace/.git/hooks/x", "git"),
        ("/workspace/.gitignore", None),
        ("/home/agent/.bashrc", "startup"),
        ("/home/agent/.ssh/config", "startup"),
        ("/home/agent/notes", None),
        ("/etc/x", "system"),
        ("/usr/local/bin/x", "system"),
        ("/workspace/etc/x", None),
    ],
)
def test_path_has_its_kind(path, kind):
    """Each place is told from its neighbours."""
    assert kind_of(path) == kind


@pytest.mark.parametrize(
    ("path", "secret"),
    [
        ("/home/agent/.ssh/id_rsa", True),
        ("/home/agent/.ssh/id_rsa.pub", False),
        ("/home/agent/.ssh/known_hosts", False),
        ("/workspace/id_ed25519", True),
        ("/proc/1/environ", True),
        ("/etc/shadow", True),
        ("/etc/passwd", False),
        ("/workspace/src/identity.py", False),
    ],
)
def test_key_is_told_from_its_neighbours(path, secret):
    """A public key is no secret, a private one is, wherever it lies."""
    assert is_secret(path) is secret


def test_settings_file_is_private_and_its_example_is_not():
    """``.env`` often holds keys; ``.env.example`` is documentation."""
    assert (is_private("/w/.env"), is_private("/w/.env.example")) == (True, False)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/", True), ("/usr", True), ("/home/agent", True), ("/workspace", False), ("/usr/x", False)],
)
def test_root_and_homes_are_told_from_what_lies_in_them(path, expected):
    """Losing these means losing the system or a person's files."""
    scope = Scope(Places("/home/agent", "/workspace"), "/workspace")
    assert is_root_or_home(path, scope) is expected
