"""Passwords that programs take as arguments."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.redaction.command_lines import find_command_line_secrets

Redact = Callable[[str], str]


@pytest.mark.parametrize(
    "text",
    [
        "curl -u admin:{} https://x",
        "+ curl -s --user admin:{} https://x",
        'wget --user "admin:{}" x',
        "curl --proxy-user=me:{} x",
        "mysql -uroot -p{} db",
        "mysqldump -h x -p{} db > out",
        "sshpass -p {} ssh host",
        "sshpass -p{} ssh host",
        "docker login -u me -p {} registry.example",
        "redis-cli -h x -a {} ping",
    ],
)
def test_password_argument_goes(redact: Redact, text: str) -> None:
    """The command stays readable without its password."""
    before, after = text.split("{}")

    result = redact(f"{before}s3cretpw9{after}")

    assert result.startswith(f"{before}[redacted:password:")
    assert result.endswith(f"]{after}")


@pytest.mark.parametrize(
    "text",
    [
        "docker run -u 1000:1000 curlimages/curl https://x",
        "curl -o out -u 1000:1000 x",
        'curl -u "$USER:$PASS" https://x',
        "curl -u me:$PASS https://x",
        "chown -R --user a:b x",
        "mkdir -p some/path && cp -p12 a b",
        "docker run -p 8080:80 nginx",
        "docker login -u me -p $TOKEN registry.example",
        "mysql -u root -p db",
        "curl https://x\nid -u me:secretword",
    ],
)
def test_other_arguments_stay(redact: Redact, text: str) -> None:
    """The same flags mean other things elsewhere."""
    assert redact(text) == text


@pytest.mark.parametrize("unit", ["curl -u ", " -u a:", "curl -u a:b ", "mysql -p"])
def test_hostile_repetition_is_searched_through(unit: str) -> None:
    """One endless line does not make the search quadratic."""
    assert isinstance(list(find_command_line_secrets(unit * (1_000_000 // len(unit)))), list)
