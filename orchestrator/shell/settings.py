"""Settings given on a command line: git's ``-c key=value`` and ``config``, ssh's ``-o``."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict

from orchestrator.shell.analysis import Word
from orchestrator.shell.invocation import slice_word
from orchestrator.shell.output import NOTHING
from orchestrator.shell.programs import read_table
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.reading import anchor_in
from orchestrator.shell.setting import Code, Site
from orchestrator.shell.variables import is_harmless_program

_SEPARATOR = re.compile(r"\s*[=\s]\s*")


class SettingTable(BaseModel):
    """One table of ``tables/settings.yaml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: tuple[str, ...]
    """Keys whose value is a program or shell text."""
    value: tuple[str, ...]
    """Values of such keys that are harmless."""
    alias: str
    """Keys whose value is a sub-command, or shell text after ``!``."""
    trust: tuple[str, ...]
    """Keys that change what is trusted or where things go."""
    harmless: str
    """Keys that may be written for good; all others may be given for one call only."""


@cache
def setting_tables() -> dict[str, SettingTable]:
    """Return the tables, validated."""
    file = resources.files("orchestrator.shell").joinpath("tables/settings.yaml")
    return {name: SettingTable.model_validate(entry) for name, entry in read_table(file).items()}


@cache
def _matcher(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{text})" for text in patterns) or r"(?!)", re.IGNORECASE)


def judge_setting(table: str, word: Word, site: Site) -> None:
    """Judge ``key=value`` in one word."""
    match = _SEPARATOR.search(word.shape)
    key = word.shape if match is None else word.shape[: match.start()]
    value = slice_word(word, len(word.shape) if match is None else match.end())
    judge_pair(table, key, value, site=site)


def judge_pair(table: str, key: str, value: Word, *, site: Site) -> bool:
    """Judge a setting; say whether its key is one that may be stored for good."""
    rules = setting_tables()[table]
    report = site.reading.report
    if DYNAMIC in key:
        report("opaque", f"a {table} setting whose name is not in the command", value.span)
    elif rules.alias and re.fullmatch(rules.alias, key, re.IGNORECASE):
        _judge_alias(table, value, site)
    elif _matcher(rules.run).fullmatch(key):
        if _matcher(rules.value).search(value.shape) or is_harmless_program(value.shape):
            return True
        report("remote_code", f"{table} setting {key} names a program to run", value.span)
        _read_shell(value, site)
    elif _matcher(rules.trust).fullmatch(key):
        report("remote_code", f"{table} setting {key} changes what is trusted or run", value.span)
    return re.fullmatch(rules.harmless, key, re.IGNORECASE) is not None


def _judge_alias(table: str, value: Word, site: Site) -> None:
    if value.shape.startswith("!"):
        site.reading.report("remote_code", f"a {table} alias that runs a command", value.span)
        _read_shell(slice_word(value, 1), site)
        return
    code = Code(f"{table} {value.shape}", anchor_in(value, "\0"))
    site.nested.shell(code, site.inner(f"{table} alias", feed=NOTHING).forked())


def _read_shell(word: Word, site: Site) -> None:
    code = Code(word.shape, anchor_in(word, word.shape))
    site.nested.shell(code, site.inner("setting", feed=NOTHING).forked())
