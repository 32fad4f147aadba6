"""A rule holds when all its conditions do."""

import pytest

from orchestrator.shell.analysis import Word
from orchestrator.shell.invocation import read_arguments
from orchestrator.shell.knowledge import Rule, Spec
from orchestrator.shell.rules import Facts, holds


def check(text, **conditions):
    words = [Word(item, item, (0, 0), shape=item) for item in text.split()]
    use = read_arguments(words, Spec.model_validate({"values": "-o"}))
    rule = Rule(risk="opaque", reason="x", **conditions)
    operands = " ".join(word.shape for word in use.operands)
    return holds(rule, use, Facts(line=text, words=operands, fed=False))


@pytest.mark.parametrize(
    ("conditions", "holding", "failing"),
    [
        ({"any": ["-a", "-b"]}, "-b x", "-c x"),
        ({"all": ["-a", "-b"]}, "-a -b", "-a"),
        ({"none": ["-n"]}, "x", "-n x"),
        ({"operands": 2}, "x y", "x"),
        ({"at_most": 1}, "x", "x y"),
        ({"words": "^x y$"}, "x -a y", "y x"),
        ({"operand": "^\\+"}, "x +y", "x y"),
        ({"line": "-a x"}, "-a x", "x -a"),
        ({"value": {"-o": "^z"}}, "-o zed", "-o y"),
        ({"piped": False}, "x", None),
        ({"piped": True}, None, "x"),
    ],
)
def test_condition_decides(conditions, holding, failing):
    """Each condition alone makes and breaks the rule."""
    if holding is not None:
        assert check(holding, **conditions)
    if failing is not None:
        assert not check(failing, **conditions)


def test_a_rule_may_spare_what_mktemp_made():
    """Only where every operand is such a path."""
    use = read_arguments([Word("x", "x", (0, 0), shape="x")], Spec())
    rule = Rule(risk="destructive", reason="x", spares_fresh=True)

    assert not holds(rule, use, Facts(line="x", words="x", fed=False, fresh=True))
    assert holds(rule, use, Facts(line="x", words="x", fed=False))
