"""SQL and the client commands around it: statements that write, drop or leave the database."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.shell.languages.effect import Effect
from orchestrator.shell.quoting import DYNAMIC

_MAX_CODE = 20_000

_SKIP = re.compile(
    r"--[^\n]*|/\*(?!!).*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(\w*)\$.*?\$\1\$", re.DOTALL
)
_DROPS = re.compile(
    r"\b(drop\s+\w+|truncate\b|delete\s+from|alter\s+(table|database|schema)\s[^;]*\bdrop\b|vacuum\s+full"
    r"|flushall|flushdb)",
    re.IGNORECASE,
)  # fmt: skip
_WRITES = re.compile(
    r"(?:^|;|\()\s*(with\b[^;]*\)\s*)?(insert|update|merge|replace|upsert|create|alter|grant|revoke|rename|comment"
    r"|reindex|cluster|call|do|copy\s[^;]*\bfrom\b|load\s+data|lock|kill|import|exec(ute)?|set\s+(global|password|persist))\b",
    re.IGNORECASE,
)  # fmt: skip
_LEAVES = re.compile(
    r"\b(copy\b[^;]*\b(to|from)\s+program\b|into\s+(out|dump)file\b|xp_cmdshell|load_extension\s*\(|load_file\s*\("
    r"|pg_read_file|pg_read_binary_file|pg_ls_dir|lo_(import|export)|sys_(exec|eval)|utl_(file|http)|dbms_scheduler"
    r"|create\s+(or\s+replace\s+)?(function|procedure|extension|event)\b|attach\s+database|writefile\s*\(|edit\s*\()",
    re.IGNORECASE,
)  # fmt: skip
_LOADS = re.compile(r"^[ \t]*+\.loa\w*[ \t]", re.MULTILINE)
_SHELL = re.compile(
    r"(?:(?:^|[\n;])[ \t]*+(?:!|system\b|\\system|\.(?:she?l?l?|sys?t?e?m?)\b|host\b)|\\!)[ \t]*([^\n]*)"
    r"|(?:^|\n)[ \t]*+(?:\\P|pager)[ \t]+(?!\|)([^\n]+)"
    r"|\bprogram\s+'((?:[^']|'')*)'"
    r"|(?:^|\n)[ \t]*+(?:\.(?:o\w*|im\w*|ex\w*|re\w*|tr\w*|lo\w*|w)|pager|tee)\b[^\n]*?\|?\s*\|([^\n]*)",
    re.IGNORECASE,
)
_PIPED = re.compile(r"\\(?:o|out|g|gx|w|write|copy|i|ir|e)\b", re.IGNORECASE)
_CLIENT = re.compile(r"\\[a-z]")
_BACKTICKS = re.compile(r"`([^`]*)`")
_FILES = re.compile(
    r"(?:^|\n)[ \t]*+(?:\\(?:o|w|g)|\.(?:output|once|backup|save|clone|log)|tee)\s+([^\s|]+)"
)


def read_sql(code: str) -> list[Effect]:
    """Return the effects of SQL text and of the client's own commands in it."""
    if len(code) > _MAX_CODE:
        return [Effect("opaque", 0, len(code), reason="more SQL than is read")]
    return list(_effects(code))


def read_local_sql(code: str) -> list[Effect]:
    """The same for a database that is a file of the workspace: only losses and escapes matter."""
    return [effect for effect in read_sql(code) if effect.kind != "publishes"]


def _effects(code: str) -> Iterator[Effect]:
    if DYNAMIC in code:
        yield Effect("opaque", 0, len(code), reason="parts of the statement are not in the command")
    for match in _SHELL.finditer(code):
        text = next((part for part in match.groups() if part is not None), "")
        yield Effect("shell", match.start(), match.end(), text=text.replace("''", "'"))
    yield from _client_effects(code)
    for match in _FILES.finditer(code):
        yield Effect("write", match.start(1), match.end(1), text=match[1])
    bare = _SKIP.sub(lambda match: " " * len(match[0]), code)
    for match in (*_LEAVES.finditer(bare), *_LOADS.finditer(bare)):
        span = match.start(), match.end()
        yield Effect("remote_code", *span, reason="reaches out of the database")
    for match in _DROPS.finditer(bare):
        yield Effect("destructive", match.start(), match.end(), reason="drops or deletes data")
    for match in (*_DROPS.finditer(bare), *_WRITES.finditer(bare)):
        yield Effect("publishes", match.start(), match.end(), reason="writes to a database")


def _client_effects(code: str) -> Iterator[Effect]:
    """Find commands of psql, anywhere in a line: output to ``|program``, and backticks as an argument."""
    at = 0
    for line in code.split("\n"):
        if piped := _PIPED.search(line):
            _, bar, text = line[piped.end() :].partition("|")
            if bar:
                yield Effect("shell", at + piped.start(), at + len(line), text=text)
        if command := _CLIENT.search(line):
            for match in _BACKTICKS.finditer(line, command.end()):
                yield Effect("shell", at + match.start(), at + match.end(), text=match[1])
        at += len(line) + 1
