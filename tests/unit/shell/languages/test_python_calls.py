"""Rarer calls of Python code."""

import pytest

from orchestrator.shell.languages.python_code import read_python


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import requests; requests.post('u', data=x)", "upload"),
        ("import urllib.request as u; u.urlopen('u', data=x)", "upload"),
        ("import socket; socket.socket()", "upload"),
        ("import os; os.kill(1, 9)", "destructive"),
        ("import os; os.truncate('x', 0)", "destructive"),
        ("import os; os.setuid(0)", "privilege"),
        ("import os; os.fork()", "exhaustion"),
        ("import pip", "remote_code"),
        ("import urllib.request as u; exec(u.urlopen('x').read())", "remote_code"),
        ("import subprocess; subprocess.run('sh', input=x)", "pipe"),
    ],
)
def test_call_has_its_kind(code, kind):
    """Each is told by its full name."""
    assert kind in [effect.kind for effect in read_python(code) or []]


def test_fetching_is_no_upload():
    """Reading an address is for the proxy to judge."""
    assert read_python("import urllib.request as u; u.urlopen('x').read()") == []
