"""What is valid in a policy and yet unlikely to be meant; errors are the loader's business."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from orchestrator.policy.document import Risks
from orchestrator.policy.layer import Layer
from orchestrator.policy.lint_network import lint_network
from orchestrator.policy.rules import CommandRule
from orchestrator.policy.yaml_nodes import Place


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark on one line."""

    place: Place
    text: str

    def __str__(self) -> str:
        """Return ``file:line: text``."""
        return f"{self.place}: {self.text}"


def lint_layer(layer: Layer) -> list[Remark]:
    """Return the remarks on a layer, by file and line."""
    remarks = [remark for check in _CHECKS for remark in check(layer)]
    return sorted(remarks, key=lambda remark: (remark.place.file, remark.place.line))


def _silent_risks(layer: Layer) -> Iterator[Remark]:
    commands = layer.document.commands
    if commands is None or commands.default == "delegate" or layer.name == "project":
        return
    silent = [
        risk
        for risk in Risks.model_fields
        if commands.risks is None or getattr(commands.risks, risk) is None
    ]
    if silent:
        text = (
            f"commands.risks says nothing on {', '.join(silent)}; commands with such a risk are "
            "refused unless another layer votes"
        )
        yield Remark(layer.place_of("commands", "risks"), text)


def _allowed_tricks(layer: Layer) -> Iterator[Remark]:
    for risk in ("evasion", "opaque", "secrets", "upload", "publishes"):
        vote = layer.document.commands and layer.document.commands.risks
        found = getattr(vote, risk, None)
        if found is not None and "allow" in {found.normal, found.high}:
            text = f"commands.risks.{risk} is allow: such commands run without a question"
            yield Remark(layer.place_of("commands", "risks", risk), text)


def _rules(layer: Layer) -> Iterator[Remark]:
    for compiled in layer.rules_for(None):
        rule = compiled.rule
        place = layer.place_of_rule(rule.id) or layer.place_of("commands", "rules")
        for text in _rule_remarks(rule, layer.command_default()):
            yield Remark(place, f"rule {rule.id!r} {text}")


def _rule_remarks(rule: CommandRule, default: str | None) -> Iterator[str]:
    if rule.examples is None or not (rule.examples.match and rule.examples.no_match):
        yield "has no examples of both kinds; they are checked each time the policy loads"
    if rule.effect == "allow" and default == "allow" and not rule.risks:
        yield "allows what commands.default allows anyway; `risks` would answer a risk class"
    if rule.effect == "deny" and not rule.reason:
        yield "denies without a reason; the model does better when it is told one"


def _network(layer: Layer) -> Iterator[Remark]:
    for place, text in lint_network(layer):
        yield Remark(place, text)


def _box_models(layer: Layer) -> Iterator[Remark]:
    models = layer.document.models
    if models is None or (models.in_box != "allow" and models.box is None):
        return
    box = models.box
    if models.in_box == "allow" and not (box and (box.tokens or box.cost_usd)):
        yield Remark(
            layer.place_of("models", "in_box"),
            "models.in_box is allow without models.box.tokens or models.box.cost_usd: programs in "
            "the box may use the key without a limit, unless another layer sets one",
        )
    if box and box.remote == "allow":
        yield Remark(
            layer.place_of("models", "box", "remote"),
            "models.box.remote is allow: a program in the box can have the provider fetch any "
            "address, and so send out what network rules keep in",
        )


def _weak_record(layer: Layer) -> Iterator[Remark]:
    if layer.document.audit and layer.document.audit.sign is False:
        text = "audit.sign is false: a changed record could be rehashed without a trace"
        yield Remark(layer.place_of("audit", "sign"), text)


def _weak_box(layer: Layer) -> Iterator[Remark]:
    sandbox = layer.document.sandbox
    if sandbox is not None and sandbox.require is not None:
        missing = {"no_network", "non_root", "no_new_privileges", "seccomp"} - {*sandbox.require}
        if missing:
            text = f"sandbox.require leaves out {', '.join(sorted(missing))}"
            yield Remark(layer.place_of("sandbox", "require"), text)
    if sandbox is not None and sandbox.read_only_root is False:
        text = "sandbox.read_only_root is false: commands may replace the image's programs"
        yield Remark(layer.place_of("sandbox", "read_only_root"), text)


def _prepare(layer: Layer) -> Iterator[Remark]:
    sandbox, network = layer.document.sandbox, layer.document.network
    if sandbox is None or sandbox.prepare is None or not sandbox.prepare.packages:
        return
    fetching = network.packages if network is not None else None
    if fetching is None:
        text = (
            "sandbox.prepare.packages are fetched with apt, which network.packages does not have: "
            "no session starts unless another layer has it; add 'network: {packages: [apt]}'"
        )
    elif "apt" not in fetching:
        text = (
            "sandbox.prepare.packages are fetched with apt, which network.packages leaves out: no "
            "session starts; add apt to it"
        )
    else:
        return
    yield Remark(layer.place_of("sandbox", "prepare", "packages"), text)


_CHECKS: tuple[Callable[[Layer], Iterator[Remark]], ...] = (
    _silent_risks,
    _allowed_tricks,
    _rules,
    _network,
    _box_models,
    _weak_record,
    _weak_box,
    _prepare,
)
