"""Names that say that a value is a credential: of headers, and of parameters of a query."""

from __future__ import annotations

import re

_NOUNS = (
    "token|secret|password|passwd|passphrase|credential|credentials|authorization|authentication|"
    "auth|key|jwt|bearer"
)
_RUN_TOGETHER = (
    "token|secret|password|authorization|apikey|accesskey|authkey|secretkey|appkey|privatekey"
)
_CREDENTIAL = re.compile(
    rf"(?:(?:.*-)?(?:{_NOUNS})|.*(?:{_RUN_TOGETHER}))(?:-(?:id|value|header|\d+|v\d+))?"
)
"""The last word counts: ``x-auth-email`` and ``x-token-type`` carry no credential."""
_HARMLESS = re.compile(
    r"sec-.*|.*(?:csrf|xsrf|idempoten|encrypt|public|pagination|request-id).*|"
    r"(?:.*-)?(?:surrogate|cache|routing|partition|partitionkey|sort|primary|foreign|dedup|"
    r"deduplication|object|row|sharding|shard|message|page|next|next-page|continuation|sync|"
    r"resume|cursor|skip|delta|start|pagination|sequence)-?(?:key|token)(?:-\d+)?|"
    r"(?:.*-)?(?:nextpage|page|skip|sync|delta|continuation)token"
)
"""Keys that tell two things apart, tokens that say where a list goes on or that a form is ours."""
_QUERY_ONLY = re.compile(
    r"sig|signature|pwd|pass|(?:x-(?:amz|goog)-)(?:credential|security-token|signature)|sas"
)
_PLAIN_KEY = re.compile(r"(?:.*-)?key(?:-(?:id|\d+))?")
_MADE_OF = ("api", "app", "application", "access", "auth", "secret", "private", "client", "license")
_LOOKS_MADE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_.~+/=-]{16,}")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_credential_header(name: str) -> bool:
    """Say whether a header of this name usually carries a credential."""
    return _is_credential(name.lower().replace("_", "-"))


def is_credential_parameter(name: str, value: str) -> bool:
    """Say whether a parameter of a query usually carries a credential.

    A bare ``key`` is as often the name of something: there the value has to look like one too.
    """
    spelled = re.sub(r"[_.\[\]$ ]+", "-", _HUMP.sub("-", name)).lower().strip("-")
    if _QUERY_ONLY.fullmatch(spelled):
        return True
    if not _is_credential(spelled):
        return False
    words = spelled.split("-")
    if _PLAIN_KEY.fullmatch(spelled) and not set(words).intersection(_MADE_OF):
        return _LOOKS_MADE.fullmatch(value) is not None
    return True


def _is_credential(spelled: str) -> bool:
    return _CREDENTIAL.fullmatch(spelled) is not None and _HARMLESS.fullmatch(spelled) is None
