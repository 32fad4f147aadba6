"""Two policies by what they decide."""

from orchestrator.policy.cases import parse_cases
from orchestrator.policy.compare import (
    builtin_corpus,
    case_corpus,
    changed_settings,
    differences,
)
from orchestrator.policy.load import load_policy
from orchestrator.schema.request import ExecRequest
from tests.unit.policy.conftest import SHIPPED


def named(name):
    return load_policy([name], search=SHIPPED, user_file=None)


def test_policy_is_like_itself():
    """In settings and in decisions."""
    one = named("default")

    assert list(differences(one, one, builtin_corpus(one))) == []
    assert changed_settings(one, one) == {}


def test_built_in_corpus_shows_what_a_policy_is_about():
    """Thousands of commands and the paths that matter, from tables and rules."""
    one, other = named("default"), named("strict")
    corpus = builtin_corpus(one, other)
    found = list(differences(one, other, corpus))
    kinds = {(item.before.effect, item.after.effect) for item in found}

    assert len(corpus) > 500
    assert ("allow", "ask") in kinds
    assert ("ask", "deny") in kinds
    assert ("deny", "allow") not in kinds
    assert any(item.tool == "write" for item in builtin_like(corpus))


def builtin_like(corpus):
    class Item:
        def __init__(self, pair):
            self.request, self.tool = pair

    return [Item(pair) for pair in corpus]


def test_settings_are_told_by_key_with_both_values():
    """As ``policy show`` prints them."""
    assert changed_settings(named("default"), named("strict"))["limits.steps"] == ("200", "20")


def test_case_files_are_a_corpus():
    """What they expect does not matter."""
    cases = parse_cases("- {id: a, command: ls, expect: deny}\n", file="f")

    assert case_corpus(cases) == [(ExecRequest("ls", "/workspace", 120.0), "bash")]
