"""Secrets assigned to names that say so, in the notations of a working day."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.redaction.assignments import find_assignments, is_secret_field

from .conftest import made

Redact = Callable[[str], str]
VALUE = made(14) + "1a"
NAMES = [
    "password", "passwd", "PGPASSWORD", "MYSQL_PWD", "DB_PASS", "db.password", "userPassword", "dbpassword",
    "spring.datasource.password", "passphrase", "secret", "client_secret", "SECRET_KEY", "SECRET_KEY_BASE",
    "apiKey", "API-KEY", "X-Api-Key", "auth_token", "accessToken", "refresh_token", "encryption_key",
    "API_KEY_PROD", "token2", "aws_secret_access_key", "AccountKey", "SharedAccessKey",
]  # fmt: skip
FORMS = [
    "{n}={v}\n", "{n}: {v}\n", '{n}: "{v}"\n', "{n} = '{v}'\n", '{{"{n}": "{v}", "id": 1}}',
    'export {n}="{v}"\n', "?{n}={v}&b=1", r'{{\"{n}\": \"{v}\"}}', '{n} := "{v}"', '{n} => "{v}"',
    "<{n}>{v}</{n}>", "--{n}={v} x", "--{n} {v} x", "{n}={v};", "f({n}='{v}')", "'{n}' : '{v}'", "`{n}`: `{v}`",
    "- {n}: {v}", "&quot;{n}&quot;:&quot;{v}&quot;", 'os.environ["{n}"] = "{v}"',
]  # fmt: skip
KEPT = [
    "token_count=42 secretary=available authorization_status=denied api_key_rotation_state=ready",
    'max_tokens=4096 "total_tokens": 12 token_type=bearer TOKEN_TTL=3600 password_min_length: 12',
    "PASSWORD_RESET_TIMEOUT=259200 secret_version: 12 api_key_id: 12 token_expiry: 2024-01-01T00:00:00Z",
    "password: str\ntoken: Optional[str] = None\npassword?: string;\nlet token: Token = lexer.next();",
    "api_key=config.api_key\nsecret: process.env.SECRET\npassword = getpass.getpass()\nself.token = token",
    'token = request.headers.get("Authorization")\nconst token = await getToken(ctx);',
    'if password == "":\n    return None\n', "password2 = password1", "def login(username, password):",
    "PASSWORD=$PASSWORD", "API_KEY=${API_KEY}", "token: ${{ secrets.GITHUB_TOKEN }}", "password={{ vault_password }}",
    "password=%s password=%(password)s", "API_KEY=<your-api-key>", "API_KEY=your_api_key_here", "password=changeme",
    "password: ********", "password: xxxxxxxx", '"password": null, "token": true', "password: !vault |",
    "password: op://vault/item/field", "token: arn:aws:secretsmanager:us-east-1:123456789012:secret:foo",
    "secretName: my-app-secret", "secret: projects/123/secrets/foo", "private_key: ~/.ssh/id_rsa",
    "private_key_path = /etc/ssl/private/key.pem", "password must be at least 8 characters", "Enter password: \n",
    "passwd: all authentication tokens updated successfully.", '"password": "This field is required."',
    '"eos_token": "<|endoftext|>", "pad_token": "[PAD]"', "PublicKeyToken=b77a5c561934e089", '"token": "abc",',
    '"password": "Password", "token": "Token"', "password: required", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "pass 12 fail 0 pass: 12", "tests: pass=12, skip=3", "keyword=foo123bar456", "hotkey=ctrl+k", "zip_code: 12345678",
    '"key": "value-123abc456"', "primary_key: id", "imagePullSecrets: [{name: regcred}]", "csrfToken: getCsrfToken(),",
    "std::string password = argv[1];", "PWD=/home/me OLDPWD=/tmp", "import secrets; secrets.token_hex(16)",
    "case TokenKind.STRING:", "KeyError: 'password'", "--password-stdin --token-file /run/token", 'echo "token: $(cat token)"',
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_value_of_a_telling_name_is_replaced(redact: Redact, name: str, form: str) -> None:
    """The value goes; name, quotes and neighbours stay."""
    before, after = form.format(n=name, v="\0").split("\0")

    result = redact(f"{before}{VALUE}{after}")

    assert VALUE not in result
    assert result.startswith(f"{before}[redacted:")
    assert result.endswith(f"]{after}")


@pytest.mark.parametrize("text", KEPT)
def test_names_code_references_and_samples_stay(redact: Redact, text: str) -> None:
    """What is no literal secret is not touched."""
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DB_PASSWORD=correcthorse\n", "correcthorse"),
        ("export DB_PASSWORD=p@ss&w;rd#1\n", "p@ss&w;rd#1"),
        ("password: hunter2\n", "hunter2"),
        ('"password": "hunterxyz"', "hunterxyz"),
        ("password = 'S3cr3t!'", "S3cr3t!"),
        ('PASSWORD="$up3r$ecret"', "$up3r$ecret"),
        ("password=123456\n", "123456"),
        ('{"auths":{"r":{"auth":"dXNlcjpwYXNzdzByZDk5"}}}', "dXNlcjpwYXNzdzByZDk5"),
        ("//registry.example/:_authToken=abc123def456ghi", "abc123def456ghi"),
        ("Server=db;Password=h4x0r5;Database=x", "h4x0r5"),
    ],
)
def test_short_and_worded_passwords_are_replaced(redact: Redact, text: str, secret: str) -> None:
    """People choose weak passwords; in doubt a literal is one."""
    assert secret not in redact(text)


def test_next_line_is_never_the_value(redact: Redact) -> None:
    """A prompt's answer is not on its own line."""
    assert redact(f"Enter password: \n{VALUE}\n") == f"Enter password: \n{VALUE}\n"


def test_value_longer_than_one_look_goes_whole(redact: Redact) -> None:
    """No tail of a long secret is left over."""
    assert redact(f"token={VALUE * 400} x").endswith("] x")
    assert redact(f'token="{VALUE * 400}" x').endswith(']" x')


def test_value_whose_quote_was_cut_goes(redact: Redact) -> None:
    """Output that ends inside a string still shows no secret."""
    assert VALUE not in redact(f'{{"password": "{VALUE}')


@pytest.mark.parametrize(
    ("field", "value", "strength"),
    [
        ("password", "hunter2", "password"),
        ("dbPassword", "S3cr3t!", "password"),
        ("X-Api-Key", VALUE, "token"),
        ("api_key", "config.api_key", None),
        ("token_count", VALUE, None),
        ("public_token", VALUE, None),
        ("name", VALUE, None),
        ("password", "", None),
    ],
)
def test_field_of_data_is_judged_by_its_name(field: str, value: str, strength: str | None) -> None:
    """In data the name is the key and the value is always a literal."""
    assert is_secret_field(field, value) == strength


@pytest.mark.parametrize(
    "unit", ["password=", "password: ", 'token"', 'password="', "secret_", "token.", "passpass-"]
)
def test_hostile_repetition_is_searched_through(unit: str) -> None:
    """Names without end do not make the search quadratic."""
    assert isinstance(list(find_assignments(unit * (1_000_000 // len(unit)))), list)
