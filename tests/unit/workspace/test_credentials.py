"""Which credentials are found in which file, and when a changed file gets them back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.workspace.credentials import (
    CREDENTIAL_NAMES,
    PLACEHOLDER,
    mask_credentials,
)

SECRET = "s3cr3t-Value/with=odd+chars"
URL_SECRET = "tok3n-Value_with.odd~chars%2F"

HELD = [
    (".git/config", f"[remote]\n\turl = https://me:{URL_SECRET}@git.example/x.git\n"),
    (".git/config", f"[remote]\n\turl = https://{URL_SECRET}@git.example/x.git\n"),
    (".git/config", f'[http "https://x"]\n\textraheader = AUTHORIZATION: basic {SECRET}\n'),
    ("sub/.GIT/Config", f'[http]\n\textraHeader = "Authorization: Bearer {SECRET}"\n'),
    (".git/modules/a/b/config", f"\turl = ssh://me:{URL_SECRET}@host/x\n"),
    (".git/config", f"[sendemail]\n\tsmtpPass = {SECRET}\n"),
    (".npmrc", f"//npm.example/:_authToken={SECRET}\n"),
    (".npmrc", f"_auth = {SECRET}\n"),
    ("packages/a/.npmrc", f'//npm.example/:_password="{SECRET}"\n'),
    (".yarnrc", f'"//npm.example/:_authToken" "{SECRET}"\n'),
    (".yarnrc.yml", f'npmScopes:\n  a:\n    npmAuthToken: "{SECRET}"\n'),
    (".pypirc", f"[pypi]\nusername = __token__\npassword = {SECRET}\n"),
    (".netrc", f"machine a.example login me password {SECRET}\n"),
    ("pip.conf", f"[global]\nindex-url = https://me:{URL_SECRET}@mirror.example/simple\n"),
    (".docker/config.json", f'{{"auths": {{"r.example": {{"auth": "{SECRET}"}}}}}}\n'),
    ("auth.json", f'{{"http-basic": {{"r": {{"password": "{SECRET}"}}}}}}\n'),
    (".cargo/credentials.toml", f'[registry]\ntoken = "{SECRET}"\n'),
    (".cargo/credentials", f'[registries.x]\ntoken = "{SECRET}"\n'),
    (".gem/credentials", f":gems_api_key: {SECRET}\n"),
    (".bundle/config", f'BUNDLE_GEMS__EXAMPLE: "me:{SECRET}"\n'),
    ("gradle.properties", f"repoPassword={SECRET}\n"),
    (".m2/settings.xml", f"<server><password>{SECRET}</password></server>\n"),
    ("NuGet.Config", f'<add key="ClearTextPassword" value="{SECRET}" />\n'),
]


@pytest.mark.parametrize(("path", "text"), HELD)
def test_credential_is_replaced_and_the_rest_stays(path: str, text: str) -> None:
    """Whatever else the file says, the box sees."""
    masked = mask_credentials(path, text)

    assert masked is not None
    assert SECRET not in masked.text
    assert URL_SECRET not in masked.text
    secret = SECRET if SECRET in text else URL_SECRET
    assert masked.text == text.replace(secret, f"{PLACEHOLDER}1")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".git/config", "[remote]\n\turl = git@git.example:x.git\n\tfetch = +refs/*:refs/*\n"),
        (".git/config", "[remote]\n\turl = https://git@git.example/x.git\n"),
        (".git/config", "[remote]\n\turl = https://git.example/@scope/x.git\n"),
        (".npmrc", "//npm.example/:_authToken=${NPM_TOKEN}\nregistry=https://npm.example/\n"),
        (".pypirc", "[pypi]\npassword = %(pw)s\n"),
        ("settings.xml", "<password>${env.PW}</password>\n"),
        ("README.md", "password = hunter22 https://me:secret@x.example\n"),
        (".netrc", "machine a login me\n"),
    ],
)
def test_references_and_other_files_are_left_alone(path: str, text: str) -> None:
    """A variable's name is no secret, and prose is no configuration."""
    assert mask_credentials(path, text) is None


NPMRC = f"registry=https://npm.example/\n//npm.example/:_authToken={SECRET}\n"


def restored(path: str, text: str, change: dict[str, str]) -> str | None:
    masked = mask_credentials(path, text)
    assert masked is not None
    changed = masked.text
    for old, new in change.items():
        assert old in changed
        changed = changed.replace(old, new)
    return masked.restore(changed)


def test_lines_beside_the_credential_may_change() -> None:
    """The line that names its host and holds the placeholder gets the original back."""
    assert restored(".npmrc", NPMRC, {"registry=": "save-exact=true\nregistry="}) == (
        "save-exact=true\n" + NPMRC
    )


@pytest.mark.parametrize(
    "change",
    [
        {"//npm.example/:": "//evil.example/:"},
        {f"={PLACEHOLDER}1": f"={PLACEHOLDER}1x"},
        {"registry=https://npm.example/": f"registry=https://evil.example/?t={PLACEHOLDER}1"},
        {f"{PLACEHOLDER}1": f"{PLACEHOLDER}2"},
    ],
)
def test_placeholder_in_another_place_is_not_filled(change: dict[str, str]) -> None:
    """Else a box could have the credential sent to a host of its choice."""
    assert restored(".npmrc", NPMRC, change) is None


def test_line_that_does_not_name_its_host_is_not_filled() -> None:
    """What it is for stands in other lines, which the box may have changed."""
    text = f"[pypi]\nrepository = https://a.example\npassword = {SECRET}\n"

    assert restored(".pypirc", text, {"a.example": "evil.example"}) is None


@given(st.text(max_size=200))
def test_masking_any_text_never_fails_and_undoes(text: str) -> None:
    """Whatever is in the file: as many lines, and the way back leads to the same text."""
    for path in (".git/config", ".npmrc", ".netrc", "settings.xml", "gradle.properties"):
        masked = mask_credentials(path, text)
        if masked is not None and PLACEHOLDER not in text:
            back = [masked.lines.get(line, line) for line in masked.text.splitlines()]
            assert back == text.splitlines()


def test_last_names_are_plain_and_in_lower_case():
    """A scan compares them as they are."""
    assert all(name == name.lower() and not set(name) & set("*?[]{}") for name in CREDENTIAL_NAMES)
    assert {path.rpartition("/")[2].lower() for path, _ in HELD} <= CREDENTIAL_NAMES
