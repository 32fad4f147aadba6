"""Whether a table's rule holds for an invocation. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from orchestrator.shell.invocation import Invocation
from orchestrator.shell.knowledge import Rule

_MAX_OPERAND = 4_000
"""Characters of one word that a pattern is tried on."""


@cache
def pattern(text: str) -> re.Pattern[str]:
    """Compile a table's pattern once."""
    return re.compile(text, re.DOTALL)


@dataclass(frozen=True, slots=True)
class Facts:
    """What rules look at beside the sorted arguments."""

    line: str
    """All arguments, joined by blanks."""
    words: str
    """Sub-commands below the rule's entry, and operands, joined by blanks."""
    fed: bool
    """Something is piped or redirected into it."""
    outside: bool = False
    """It works in a directory that is known not to lie in the workspace."""
    fresh: bool = False
    """Every operand is a path that mktemp made for this very command."""


def holds(rule: Rule, use: Invocation, facts: Facts) -> bool:
    """Say whether every condition of ``rule`` is met."""
    return (
        not (rule.spares_fresh and facts.fresh)
        and _options_hold(rule, use)
        and rule.operands <= len(use.operands)
        and (rule.at_most is None or len(use.operands) <= rule.at_most)
        and (rule.piped is None or rule.piped == facts.fed)
        and (not rule.outside or facts.outside)
        and _patterns_hold(rule, use, facts)
    )


def _options_hold(rule: Rule, use: Invocation) -> bool:
    if rule.any and not use.has(*rule.any):
        return False
    if rule.none and use.has(*rule.none):
        return False
    return all(use.has(name) for name in rule.all)


def _patterns_hold(rule: Rule, use: Invocation, facts: Facts) -> bool:
    if rule.line and not pattern(rule.line).search(facts.line):
        return False
    if rule.words and not pattern(rule.words).search(facts.words):
        return False
    if rule.runs and not (use.tail and pattern(rule.runs).search(use.tail[0].shape)):
        return False
    if rule.operand:
        matcher = pattern(rule.operand)
        if not any(matcher.search(word.shape[:_MAX_OPERAND]) for word in use.operands):
            return False
    return all(
        any(pattern(text).search(word.shape[:_MAX_OPERAND]) for word in use.values(name))
        for name, text in rule.value.items()
    )
