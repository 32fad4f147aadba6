"""Where common configuration files keep credentials. A table and its reading, pure.

What matches is replaced by a placeholder before the box sees the file. What a box makes of the
file is put right again only where a placeholder still stands in the line it was put into, and
that line says itself whom the credential is for: else a box could have it sent elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from orchestrator.workspace.globs import PathGlobs, path_globs

PLACEHOLDER = "glovebox-masked-"
"""Followed by a number, from 1, in the order of the file."""

# Each has the credential in its one group. Repetitions are bounded: the files may be a hostile
# repository's, and none may hold a session's start up.
_IN_URL = r"[a-z][a-z0-9+.-]{0,20}://[^\s/@:\"'<>]{0,200}:([^\s/\"'<>]{1,2000})(?=@)"
_ALONE_IN_URL = r"[a-z][a-z0-9+.-]{0,20}://([^\s/@:\"'<>]{16,2000})(?=@)"
_URLS = (_IN_URL, _ALONE_IN_URL)
_NPM = r"(?:_authToken|_auth|_password)[\"']?[ \t]{0,99}[=: \t][ \t]{0,99}[\"']?([^\s\"']+)"
_ASSIGNED = r"^[ \t]{0,99}[\w.-]{0,99}(?:password|passwd|token|secret)[\w.-]{0,99}[ \t]{0,99}[=:][ \t]{0,99}[\"']?([^\s\"'][^\"'\n]*)"
_JSON = r"\"(?:auth|identitytoken|registrytoken|password|token|bearer)\"[ \t]{0,99}:[ \t]{0,99}\"([^\"]+)\""

_TABLE: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        (
            ".git/config",
            ".git/config.worktree",
            ".git/modules/**/config",
            ".git/worktrees/**/config.worktree",
            ".gitmodules",
            ".gitconfig",
        ),
        (
            *_URLS,
            r"^[ \t]{0,99}extraheader[ \t]{0,99}=[ \t]{0,99}\"?[\w-]{1,99}[ \t]{0,99}:[ \t]{0,99}(?:(?:basic|bearer|token)[ \t]{1,9})?([^\s\"]+)",
            r"^[ \t]{0,99}(?:smtppass|password|token|oauthtoken|proxypassword)[ \t]{0,99}=[ \t]{0,99}\"?([^\s\"]+)",
        ),
    ),
    ((".npmrc", ".yarnrc"), (_NPM, *_URLS)),
    (
        (".yarnrc.yml",),
        (
            r"^[ \t]{0,99}npmAuth(?:Token|Ident)[\"']?[ \t]{0,99}:[ \t]{0,99}[\"']?([^\s\"']+)",
            *_URLS,
        ),
    ),
    ((".pypirc",), (r"^[ \t]{0,99}password[ \t]{0,99}[=:][ \t]{0,99}(\S[^\n]*)", *_URLS)),
    ((".netrc", "_netrc"), (r"\b(?:password|account)[ \t]{1,99}(\S+)",)),
    (("pip.conf", "pip.ini", "uv.toml", "poetry.toml", "pdm.toml"), (*_URLS, _ASSIGNED)),
    ((".docker/config.json", "auth.json"), (_JSON, *_URLS)),
    (
        (
            ".cargo/credentials",
            ".cargo/credentials.toml",
            ".cargo/config",
            ".cargo/config.toml",
        ),
        (r"^[ \t]{0,99}(?:token|secret-key)[ \t]{0,99}=[ \t]{0,99}[\"']([^\"'\n]+)", *_URLS),
    ),
    ((".gem/credentials",), (r"^[ \t]{0,99}:?[\w-]{1,99}[ \t]{0,99}:[ \t]{0,99}(\S+)",)),
    (
        (".bundle/config",),
        (
            r"^[ \t]{0,99}BUNDLE_[A-Z0-9_]{1,99}[ \t]{0,99}:[ \t]{0,99}[\"']?[^\s\"':]{1,200}:([^\s\"']+)",
            *_URLS,
        ),
    ),
    (("gradle.properties",), (_ASSIGNED, *_URLS)),
    (("settings.xml",), (r"<(?:password|passphrase)>([^<\n]+)</", *_URLS)),
    (
        ("nuget.config",),
        (r"key=\"(?:ClearText)?Password\"[ \t]{1,99}value=\"([^\"]+)\"", *_URLS),
    ),
)

_REFERENCE = re.compile(r"\$|%\(|\{\{|<")
"""How a value begins that names a variable instead of holding a credential."""
_BINDS = re.compile(r"^\s*(?:@[\w-]+:)?//|://[^/\s]*@")
"""A line that names the host its credential is for."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A file's text with placeholders."""

    text: str
    lines: dict[str, str]
    """Each line that holds a placeholder, to the line that it stands for."""

    def restore(self, changed: str) -> str | None:
        """Return a box's version with its credentials put back; None where that is not safe."""
        lines = changed.splitlines(keepends=True)
        for number, line in enumerate(lines):
            if PLACEHOLDER not in line:
                continue
            bare = line.rstrip("\r\n")
            if bare not in self.lines or not _BINDS.search(bare):
                return None
            lines[number] = self.lines[bare] + line[len(bare) :]
        return "".join(lines)


_RULES: tuple[tuple[PathGlobs, re.Pattern[str]], ...] = tuple(
    (
        path_globs(globs),
        re.compile("|".join(f"(?:{one})" for one in forms), re.IGNORECASE | re.MULTILINE),
    )
    for globs, forms in _TABLE
)
CREDENTIAL_GLOBS = tuple(glob for globs, _ in _TABLE for glob in globs)
"""The files that are looked into, wherever they are and whatever the case of their names."""
CREDENTIAL_NAMES = frozenset(glob.rpartition("/")[2] for glob in CREDENTIAL_GLOBS)
"""Their last names, so that a scan need not match every path: none is a pattern."""


def mask_credentials(path: str, text: str) -> Masked | None:
    """Return a file's text with its credentials replaced; None where it has none."""
    forms = [form for globs, form in _RULES if globs.match(path)]
    masked, count = text, 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal count
        at = match.lastindex
        if at is None or not match[at] or _REFERENCE.match(match[at]) or PLACEHOLDER in match[at]:
            return match[0]
        count += 1
        begin, end = (position - match.start() for position in match.span(at))
        return f"{match[0][:begin]}{PLACEHOLDER}{count}{match[0][end:]}"

    for form in forms:
        masked = form.sub(replaced, masked)
    if not count:
        return None
    pairs = zip(masked.splitlines(), text.splitlines(), strict=True)
    return Masked(masked, {new: old for new, old in pairs if new != old})
