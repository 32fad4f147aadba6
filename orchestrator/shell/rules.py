"""Whether a table's rule holds for an invocation. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from orchestrator.shell.invocation import Invocation
from orchestrator.shell.knowledge import Rule


@lru_cache(maxsize=None)
def pattern(text: str) -> re.Pattern[str]:
    """Compile a table's pattern once."""
    return re.compile(text, re.DOTALL)


def holds(rule: Rule, use: Invocation, *, line: str, fed: bool) -> bool:
    """Say whether every condition of ``rule`` is met; ``fed`` is whether input is piped in."""
    return (
        _options_hold(rule, use)
        and rule.operands <= len(use.operands)
        and (rule.at_most is None or len(use.operands) <= rule.at_most)
        and (rule.piped is None or rule.piped == fed)
        and _patterns_hold(rule, use, line)
    )


def _options_hold(rule: Rule, use: Invocation) -> bool:
    if rule.any and not use.has(*rule.any):
        return False
    if rule.none and use.has(*rule.none):
        return False
    return all(use.has(name) for name in rule.all)


def _patterns_hold(rule: Rule, use: Invocation, line: str) -> bool:
    if rule.line and not pattern(rule.line).search(line):
        return False
    if rule.words:
        words = " ".join(word.shape for word in use.operands)
        if not pattern(rule.words).search(words):
            return False
    if rule.operand:
        matcher = pattern(rule.operand)
        if not any(matcher.search(word.shape) for word in use.operands):
            return False
    return all(
        any(pattern(text).search(word.shape) for word in use.values(name))
        for name, text in rule.value.items()
    )
