"""The table of token shapes. Order does not matter; adding a row is all a new vendor needs."""

from __future__ import annotations

import re
from dataclasses import dataclass

_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2}))"
"""A word's start, also right after an escape such as ``\\n`` or ``%3D``."""


@dataclass(frozen=True, slots=True)
class Shape:
    """``anchor`` is text that every such token holds, ``back`` characters after its start."""

    kind: str
    anchor: str
    pattern: re.Pattern[str]
    back: int = 0


def _shape(kind: str, anchor: str, rest: str, *, start: bool = False, back: str = "") -> Shape:
    width = len(re.sub(r"\[[^]]*\]\{(\d+)\}", lambda m: "x" * int(m[1]), back))
    pattern = (_START if start else "") + back + re.escape(anchor) + rest
    return Shape(kind, anchor, re.compile(pattern), width)


def _each(kind: str, anchors: str, rest: str, *, start: bool = False) -> tuple[Shape, ...]:
    return tuple(_shape(kind, anchor, rest, start=start) for anchor in anchors.split())


_WORD = r"[A-Za-z0-9]"
_SAFE = r"[A-Za-z0-9_-]"
_MIXED = rf"(?=(?:{_SAFE}{{0,199}}?[0-9]))(?=(?:{_SAFE}{{0,199}}?[A-Za-z]))"
_NO_MORE = r"(?![A-Za-z0-9])"
_LONG_PIECE = rf"(?={_SAFE}{{0,99}}?{_WORD}{{16}})"

SHAPES: tuple[Shape, ...] = (
    # code forges
    *_each("github-token", "ghp_ gho_ ghu_ ghr_", r"[A-Za-z0-9]{30,}+(?:_[A-Za-z0-9]++)*+"),
    _shape("github-token", "ghs_", r"[A-Za-z0-9_]{30,}+(?:[.-][A-Za-z0-9_-]{10,}+)*+"),
    _shape("github-token", "ghs_", r"[0-9]{2,}+_eyJ[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]++)*+"),
    _shape("github-token", "github_pat_", r"[A-Za-z0-9_]{40,}+"),
    *_each(
        "gitlab-token",
        "glpat- gloas- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- glsoat- glffct- glwt-",
        r"[A-Za-z0-9_-]{16,}+(?:\.[A-Za-z0-9]{2,}+)*+",
    ),
    _shape("gitlab-token", "GR1348941", r"[A-Za-z0-9_-]{20}"),
    _shape("bitbucket-token", "ATBB", r"[A-Za-z0-9]{32}", start=True),
    *_each("atlassian-token", "ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{60,}+"),
    _shape("azure-devops-token", "AZDO", rf"[A-Za-z0-9]{{4}}{_NO_MORE}", back=r"[A-Za-z0-9]{76}"),
    # model vendors
    _shape("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{20,}+"),
    *_each("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[A-Za-z0-9_-]{20,}+"),
    _shape("openrouter-key", "sk-or-", r"[A-Za-z0-9_-]{20,}+", start=True),
    _shape("api-key", "sk-", rf"{_LONG_PIECE}{_MIXED}[A-Za-z0-9_-]{{20,}}+", start=True),
    _shape("groq-key", "gsk_", r"[A-Za-z0-9]{40,}+", start=True),
    _shape("xai-key", "xai-", r"[A-Za-z0-9]{60,}+", start=True),
    _shape("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,}+", start=True),
    _shape("replicate-token", "r8_", r"[A-Za-z0-9]{36,}+", start=True),
    _shape("huggingface-token", "hf_", r"[A-Za-z0-9]{30,}+", start=True),
    _shape("huggingface-token", "api_org_", r"[A-Za-z0-9]{30,}+", start=True),
    _shape("nvidia-key", "nvapi-", r"[A-Za-z0-9_-]{40,}+", start=True),
    _shape("cerebras-key", "csk-", r"[a-z0-9]{40,}+", start=True),
    _shape("together-key", "tgp_v1_", r"[A-Za-z0-9_-]{30,}+", start=True),
    _shape("tavily-key", "tvly-", r"[A-Za-z0-9-]{24,}+", start=True),
    *_each("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[a-f0-9]{32}(?:_[a-f0-9]++)?"),
    # clouds
    *_each("aws-key-id", "AKIA ASIA ABIA ACCA", rf"[A-Z0-9]{{16}}{_NO_MORE}", start=True),
    _shape("google-key", "AIza", r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9])"),
    _shape("google-key", "AQ.Ab", r"[A-Za-z0-9_-]{30,}+", start=True),
    _shape("google-secret", "GOCSPX-", r"[A-Za-z0-9_-]{20,}+"),
    _shape("google-token", "ya29.", r"[A-Za-z0-9_-]{20,}+"),
    _shape("google-token", "1//0", r"[A-Za-z0-9_-]{24,}+", start=True),
    _shape("azure-secret", "8Q~", r"[A-Za-z0-9_~.-]{34}", back=r"[A-Za-z0-9_~.-]{3}"),
    _shape("azure-secret", "7Q~", r"[A-Za-z0-9_~.-]{34}", back=r"[A-Za-z0-9_~.-]{3}"),
    *_each("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    *_each("alibaba-key-id", "LTAI", r"[A-Za-z0-9]{17,21}(?![A-Za-z0-9])", start=True),
    _shape("databricks-token", "dapi", r"[a-f0-9]{32}(?:-[0-9])?(?![a-f0-9])", start=True),
    _shape("heroku-key", "HRKU-", r"[A-Za-z0-9_-]{30,}+", start=True),
    _shape("flyio-token", "fm2_", r"[A-Za-z0-9+/=_-]{40,}+", start=True),
    *_each("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{30,}+"),
    *_each("supabase-key", "sbp_ sb_secret_", r"[A-Za-z0-9_-]{20,}+", start=True),
    _shape("netlify-token", "nfp_", r"[A-Za-z0-9]{30,}+", start=True),
    *_each("tailscale-key", "tskey-auth- tskey-api- tskey-client-", r"[A-Za-z0-9-]{16,}+"),
    # packages and images
    _shape("npm-token", "npm_", r"[A-Za-z0-9]{30,}+"),
    _shape("pypi-token", "pypi-", rf"{_LONG_PIECE}[A-Za-z0-9_-]{{50,}}+", start=True),
    _shape("rubygems-key", "rubygems_", r"[a-f0-9]{40,}+"),
    _shape("crates-token", "cio", rf"[A-Za-z0-9]{{32}}{_NO_MORE}", start=True),
    _shape("nuget-key", "oy2", rf"[a-z0-9]{{43}}{_NO_MORE}", start=True),
    *_each("docker-token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{20,}+"),
    *_each("artifactory-key", "AKCp", r"[A-Za-z0-9]{60,}+", start=True),
    _shape("artifactory-key", "cmVmdGtu", r"[A-Za-z0-9]{40,}+", start=True),
    # chat and mail
    *_each(
        "slack-token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs-",
        r"(?:[A-Za-z0-9_-]|%2[BbFf]|%3[Dd]){10,}+",
    ),
    _shape("slack-token", "xoxe.", r"xox[bp]-[A-Za-z0-9-]{10,}+"),
    _shape("slack-token", "xapp-", r"[0-9]-[A-Za-z0-9-]{16,}+", start=True),
    _shape(
        "slack-webhook",
        "hooks.slack.com/",
        r"(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{16,}+)",
    ),
    _shape("discord-webhook", "/api/webhooks/", r"[0-9]{10,20}/(?P<secret>[A-Za-z0-9_-]{40,}+)"),
    _shape("teams-webhook", ".webhook.office.com/", r"webhookb2/(?P<secret>[A-Za-z0-9@/_-]{30,}+)"),
    Shape(
        "telegram-token",
        ":AA",
        re.compile(r"(?<=[0-9]{8}):(?P<secret>AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])"),
    ),
    _shape("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,64}+\.[A-Za-z0-9_-]{32,}+", start=True),
    _shape("twilio-key", "SK", rf"[0-9a-f]{{32}}{_NO_MORE}", start=True),
    _shape("mailchimp-key", "-us", rf"[0-9]{{1,2}}{_NO_MORE}", back=r"[0-9a-f]{32}"),
    _shape("sendinblue-key", "xkeysib-", r"[a-f0-9]{40,}+(?:-[A-Za-z0-9]++)?"),
    # payment, shops
    *_each("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{16,}+"),
    _shape("stripe-secret", "whsec_", r"[A-Za-z0-9+/=]{24,}+"),
    *_each("square-token", "sq0atp- sq0csp- sq0idp-", r"[A-Za-z0-9_-]{20,}+"),
    *_each("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[A-Fa-f0-9]{32}"),
    # services of a development day
    *_each("notion-token", "ntn_", r"[A-Za-z0-9]{40,}+", start=True),
    _shape("notion-token", "secret_", rf"[A-Za-z0-9]{{43}}{_NO_MORE}", start=True),
    _shape("linear-key", "lin_api_", r"[A-Za-z0-9]{32,}+"),
    *_each("grafana-token", "glsa_ glc_", r"[A-Za-z0-9+/_=-]{32,}+", start=True),
    *_each("newrelic-key", "NRAK- NRAL- NRII-", r"[A-Za-z0-9]{24,}+", start=True),
    *_each("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{40,}+"),
    _shape("postman-key", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    _shape("pulumi-token", "pul-", rf"[a-f0-9]{{40}}{_NO_MORE}", start=True),
    _shape("terraform-token", ".atlasv1.", r"[A-Za-z0-9_=-]{60,}+", back=r"[A-Za-z0-9]{14}"),
    *_each("vault-token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,}+", start=True),
    *_each(
        "doppler-token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"[A-Za-z0-9._-]{30,}+",
        start=True,
    ),
    _shape("figma-token", "figd_", r"[A-Za-z0-9_-]{30,}+", start=True),
    *_each("circleci-token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9_]{30,}+"),
    *_each("buildkite-token", "bkua_", r"[a-f0-9]{40}", start=True),
    *_each("contentful-token", "CFPAT-", r"[A-Za-z0-9_-]{40,}+", start=True),
    *_each("dynatrace-token", "dt0c01. dt0s01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}", start=True),
    *_each("sonar-token", "sqp_ squ_ sqa_", rf"[a-f0-9]{{40}}{_NO_MORE}", start=True),
    *_each("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}", start=True),
    *_each("1password-token", "ops_eyJ", r"[A-Za-z0-9+/=_-]{40,}+"),
    _shape("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}+"),
)
