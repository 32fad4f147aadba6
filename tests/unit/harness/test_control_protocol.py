import os

import pytest

from orchestrator.errors import BoxError
from orchestrator.harness.control_protocol import (
    Hello,
    OpenOrder,
    control_directory,
    control_paths,
    parse,
)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (Hello, b"no json"),
        (Hello, b"[]"),
        (Hello, b'{"version": "1", "via": "attach"}'),
        (Hello, b'{"version": 1, "via": "steal"}'),
        (Hello, b'{"version": 1, "via": "preview", "preview": {"port": 0, "listen": "x"}}'),
        (OpenOrder, b'{"to": {"tcp": 70000}, "credit": 1}'),
        (OpenOrder, b'{"to": {"terminal": {"columns": 0, "rows": 1}}, "credit": 1}'),
        (OpenOrder, b'{"to": {"tcp": 80}, "credit": -1}'),
        (OpenOrder, b"[" * 100_000),
    ],
)
def test_message_of_another_shape_is_refused(kind, payload):
    """Even from a process of the same user."""
    with pytest.raises(BoxError, match=f"{kind.__name__} expected"):
        parse(kind, payload)


def test_unknown_fields_are_let_be():
    """A later program may say more."""
    assert parse(Hello, b'{"version": 1, "via": "attach", "mood": "good"}').via == "attach"


def test_session_is_looked_for_where_either_environment_puts_it(tmp_path):
    """Its process may have had no runtime directory, or this one may."""
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)[:40].rstrip("/")}
    found = control_paths("0123456789ab", environ)

    assert found[0].parent == control_directory(environ)
    assert str(found[-1]) == f"/tmp/glovebox-{os.geteuid()}/control/0123456789ab"
    assert len(control_paths("0123456789ab", {})) == 1
