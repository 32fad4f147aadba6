"""Tokens that their form gives away, and words that only begin like one."""

from __future__ import annotations

import string
from collections.abc import Callable

import pytest

from orchestrator.redaction.shape_table import SHAPES
from orchestrator.redaction.shapes import find_shapes

from .conftest import HEX, made

Redact = Callable[[str], str]
UPPER = string.ascii_uppercase + string.digits
DIGITS = string.digits

TOKENS = {
    **{
        f"github {prefix}": f"{prefix}{made(36)}"
        for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")
    },
    "github fine-grained": f"github_pat_{made(22)}_{made(59)}",
    "github app, long": f"ghs_1234567_eyJ{made(20)}.eyJ{made(60)}.{made(43)}",
    "gitlab": f"glpat-{made(20)}",
    "gitlab routable": f"glpat-{made(27)}.{made(2, HEX)}.{made(9, HEX)}",
    "gitlab runner": f"glrt-{made(20)}",
    "bitbucket": f"ATBB{made(32)}",
    "atlassian": f"ATATT3{made(180)}",
    "anthropic": f"sk-ant-api03-{made(93)}AA",
    "openai project": f"sk-proj-{made(70)}_{made(50)}",
    "openai legacy": f"sk-{made(20)}T3Blbk" + f"FJ{made(20)}",
    "deepseek": f"sk-{made(32, HEX)}",
    "openrouter": f"sk-or-v1-{made(64, HEX)}",
    "groq": f"gsk_{made(52)}",
    "xai": f"xai-{made(80)}",
    "huggingface": f"hf_{made(34, string.ascii_letters)}",
    "aws key id": f"AKIA{made(16, UPPER)}",
    "aws temporary": f"ASIA{made(16, UPPER)}",
    "google": f"AIza{made(35)}",
    "google oauth": f"ya29.{made(60)}",
    "google refresh": f"1//0{made(40)}",
    "google secret": f"GOCSPX-{made(28)}",
    "azure secret": f"{made(3)}8Q~{made(34)}",
    "digitalocean": f"dop_v1_{made(64, HEX)}",
    "databricks": f"dapi{made(32, HEX)}",
    "slack bot": f"xoxb-{made(12, DIGITS)}-{made(13, DIGITS)}-{made(24)}",
    "slack app": f"xapp-1-A{made(10, UPPER)}-{made(13, DIGITS)}-{made(64, HEX)}",
    "sendgrid": f"SG.{made(22)}.{made(43)}",
    "twilio": f"SK{made(32, HEX)}",
    "mailchimp": f"{made(32, HEX)}-us12",
    "stripe live": f"sk_live_{made(24)}",
    "stripe restricted": f"rk_test_{made(24)}",
    "stripe webhook": f"whsec_{made(32)}",
    "shopify": f"shpat_{made(32, HEX)}",
    "npm": f"npm_{made(36)}",
    "pypi": f"pypi-AgEI{made(130)}",
    "rubygems": f"rubygems_{made(48, HEX)}",
    "docker": f"dckr_pat_{made(27)}",
    "notion": f"ntn_{made(46)}",
    "linear": f"lin_api_{made(40)}",
    "grafana": f"glsa_{made(32)}_{made(8, HEX)}",
    "vault": f"hvs.{made(95)}",
    "terraform": f"{made(14)}.atlasv1.{made(67)}",
    "postman": f"PMAK-{made(24, HEX)}-{made(34, HEX)}",
    "age": f"AGE-SECRET-KEY-1{made(58, UPPER)}",
    "jwt": f"eyJ{made(30)}.eyJ{made(60)}.{made(43)}",
    "jwt, encrypted": f"eyJ{made(30)}.{made(60)}.{made(16)}",
}
AROUND = ("{}", "x={}\n", '"{}"', "({})", "{}, and", "see {}.", r"a\n{}\n", "%3D{}%26", "\t{}\r\n")

WORDS = [
    "pip install hf_transfer && hf_hub_download(x)",
    "npm_config_cache=/x npm_lifecycle_event npm_package_name",
    "scikit-learn sk-learn task-1234567890123456789012 risk-assessment-2024-report-final",
    "sk-spinner-container-large-blue-variant-two",
    "pypi-server pypi-publish-action-v1-with-trusted-publishing",
    "ghp_short glpat-x xoxb- AKIA ASIA AIza eyJ SG.x.y",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AsiaPacificSoutheast1Region AKIAabcdefghijklmnop",
    "commit 9af062d3eae87185a8367253f47d17d02553bfe3",
    "sha256:896d5d5f5917fad0f716dad44e02e262ca81e39386e2a84f10e1ee64b119ca7a",
    "3f2b8c1e-5d4a-4f6b-9a7c-0e1d2c3b4a59",
    "com.example.module.submodule.ClassName.methodName.anotherName",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8zY1m2fVv9w8q4k5Qd3lqk2m0c1Qm5z3x1y2w3v4u5 me@host",
    "SKELETON_KEY_0123456789abcdef SKU-0123456789abcdef0123456789abcdef",
]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", TOKENS)
def test_token_is_replaced_wherever_it_stands(redact: Redact, name: str, around: str) -> None:
    """Quotes, punctuation and escapes do not hide a token, and are not eaten with it."""
    before, after = around.split("{}")

    result = redact(f"{before}{TOKENS[name]}{after}")

    assert TOKENS[name][4:] not in result
    assert result.startswith(f"{before}[redacted:")
    assert result.endswith(f"]{after}")


@pytest.mark.parametrize("text", WORDS)
def test_word_that_begins_like_a_token_stays(redact: Redact, text: str) -> None:
    """Names, digests, samples and keys for the public are no secrets."""
    assert redact(text) == text


def test_webhook_keeps_its_host(redact: Redact) -> None:
    """Of an address only the secret part goes."""
    secret = f"T{made(8, UPPER)}/B{made(8, UPPER)}/{made(24)}"

    result = redact(f"https://hooks.slack.com/services/{secret} ok")

    assert result.startswith("https://hooks.slack.com/services/[redacted:slack-webhook:")
    assert result.endswith("] ok")


def test_bot_token_keeps_its_bot(redact: Redact) -> None:
    """The number before the colon is public."""
    result = redact(f"bot {made(10, DIGITS)}:AA{made(33)} ok")

    assert result.startswith(f"bot {made(10, DIGITS)}:[redacted:telegram-token:")
    assert result.endswith("] ok")


@pytest.mark.parametrize(
    "unit",
    ["eyJ", "eyJa.", "ghp_", "sk-", "SG.a", "xoxb-", ":AA", "a.", "github_pat_", "-us", "AKIA"],
)
def test_hostile_repetition_is_searched_through(unit: str) -> None:
    """A megabyte of beginnings takes no longer than a megabyte (a quadratic search never ends)."""
    assert len(list(find_shapes(unit * (1_000_000 // len(unit))))) <= 1


def test_every_row_has_an_anchor_of_its_tokens() -> None:
    """A pattern without its anchor would never be tried."""
    assert all(shape.anchor and shape.back >= 0 for shape in SHAPES)
    assert all(len(shape.kind) <= 48 for shape in SHAPES)
