"""A rule's own examples, checked each time the rule loads."""

from __future__ import annotations

from orchestrator.errors import PolicyError
from orchestrator.policy.judge_command import rule_applies
from orchestrator.policy.layer import BoxPaths, Layer
from orchestrator.policy.match import CompiledRule
from orchestrator.policy.yaml_nodes import Place
from orchestrator.shell.analyse import analyse


def check_examples(layer: Layer, *, box: BoxPaths) -> None:
    """Raise PolicyError for every example that its rule does not judge as it says."""
    wrong = [problem for rule in layer.rules_for(None) for problem in _problems(layer, rule, box)]
    if wrong:
        raise PolicyError("\n".join(wrong), hint="mend the rule or the example")


def _problems(layer: Layer, compiled: CompiledRule, box: BoxPaths) -> list[str]:
    examples = compiled.rule.examples
    if examples is None:
        return []
    wanted = [(command, True) for command in examples.match]
    wanted += [(command, False) for command in examples.no_match]
    return [
        f"{_place(layer, compiled)}: rule {compiled.rule.id!r}: "
        f"expected {'a' if matches else 'no'} match for the example {command!r}"
        for command, matches in wanted
        if _applies(compiled, command, box) is not matches
    ]


def _applies(compiled: CompiledRule, command: str, box: BoxPaths) -> bool:
    analysis = analyse(command, cwd=box.workspace, home=box.home, workspace=box.workspace)
    return rule_applies(compiled, analysis)


def _place(layer: Layer, compiled: CompiledRule) -> Place:
    return layer.place_of_rule(compiled.rule.id) or layer.place_of("commands")
