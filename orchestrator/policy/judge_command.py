"""Votes on a command line: on each program in it, each risk found, each path it would touch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orchestrator.policy.arguments import Certainty
from orchestrator.policy.ballot import poll
from orchestrator.policy.globs import normal_path, within
from orchestrator.policy.judge_file import protected_votes, rule_votes
from orchestrator.policy.layer import BoxPaths, Layer
from orchestrator.policy.match import CompiledRule, Seen, match_rule
from orchestrator.schema.decision import Decision, Effect
from orchestrator.shell.analysis import Analysis, Finding, SimpleCommand, Span, overlap

_BEYOND_BLANKET_YES = frozenset({"opaque", "evasion"})


def command_votes(
    layers: tuple[Layer, ...], analysis: Analysis, *, box: BoxPaths
) -> Iterator[Decision]:
    """Yield every vote on the command line; allowed only if all of them allow."""
    seen = list(seen_programs(analysis))
    for item in seen:
        yield from _program_votes(layers, item)
    if not seen:
        yield from poll(
            layers, _default_vote, question="a line without a program", key="commands.default"
        )
    for finding in analysis.findings:
        yield from _finding_votes(layers, finding, seen)
    yield from _path_votes(layers, analysis, box)


def seen_programs(analysis: Analysis) -> Iterator[Seen]:
    """Yield every program that would run, the ones that only wrap another too."""
    for command in analysis.commands:
        writes = _writes_of(command, analysis)
        for wrapper in command.wrappers:
            yield Seen(command, writes, wrapper=wrapper.rpartition("/")[2])
        yield Seen(command, writes)


def rule_applies(compiled: CompiledRule, analysis: Analysis) -> bool:
    """Say whether a rule's effect would hold somewhere in the command line."""
    seen = list(seen_programs(analysis))
    if compiled.rule.risks:
        findings = [item for item in analysis.findings if item.risk in compiled.rule.risks]
        return any(_answers(compiled, finding, seen) for finding in findings)
    return any(_vote_effect(compiled, match_rule(compiled, item)) for item in seen)


def _program_votes(layers: tuple[Layer, ...], seen: Seen) -> list[Decision]:
    name = seen.program or seen.command.argv[0].raw

    def votes_of(layer: Layer) -> list[Decision]:
        votes = [
            vote
            for compiled in layer.rules_for(seen.program)
            if not compiled.rule.risks
            for vote in _rule_vote(layer, compiled, seen)
        ]
        return votes or _default_vote(layer, program=name, span=seen.command.span)

    return poll(layers, votes_of, question=f"the program {name!r}", key="commands.default")


def _rule_vote(layer: Layer, compiled: CompiledRule, seen: Seen) -> list[Decision]:
    sure = match_rule(compiled, seen)
    effect = _vote_effect(compiled, sure)
    if effect is None:
        return []
    rule = compiled.rule
    reason = rule.reason or f"rule {rule.id!r} matches {seen.program or 'it'}"
    if sure is Certainty.MAYBE:
        reason = f"cannot be told from the text, but may match {rule.id!r}: {reason}"
    return [
        Decision(
            effect=effect,
            rule=rule.id,
            layer=layer.name,
            reason=reason,
            span=seen.command.span,
            hint=rule.hint,
            always=effect == "ask",
            unyielding=effect != rule.effect,
        )
    ]


def _vote_effect(compiled: CompiledRule, sure: Certainty) -> Effect | None:
    """Return what a match of this certainty votes: a possible deny asks a person."""
    effect = compiled.rule.effect
    if sure is Certainty.YES:
        return effect
    if sure is Certainty.MAYBE and effect != "allow":
        return "ask"
    return None


def _default_vote(layer: Layer, *, program: str = "", span: Span | None = None) -> list[Decision]:
    effect = layer.command_default()
    if effect is None or effect == "delegate":
        return []
    named = f"no rule for {program}" if program else "no program in it"
    reason = f"{named}; commands.default is {effect}"
    return [Decision(effect, "default", layer.name, reason, span=span)]


def _finding_votes(layers: tuple[Layer, ...], finding: Finding, seen: list[Seen]) -> list[Decision]:
    def votes_of(layer: Layer) -> list[Decision]:
        rules = [
            compiled
            for compiled in _risk_rules(layer, finding)
            if _answers(compiled, finding, seen)
        ]
        if rules:
            return [_risk_rule_vote(layer, compiled, finding) for compiled in rules]
        return _risk_vote(layer, finding)

    key = f"commands.risks.{finding.risk}"
    return poll(layers, votes_of, question=f"the risk {finding.risk!r}", key=key)


def _risk_rules(layer: Layer, finding: Finding) -> Iterator[CompiledRule]:
    for compiled in layer.rules_for(None):
        if finding.risk in compiled.rule.risks:
            yield compiled


def _answers(compiled: CompiledRule, finding: Finding, seen: list[Seen]) -> bool:
    """Say whether the rule speaks for the finding.

    To allow, the rule must surely match every innermost program the finding covers, so that a
    rule for the inner half of a pipe does not clear the whole.
    """
    touched = [item for item in seen if overlap(item.command.span, finding.span)]
    if compiled.lenient:
        return any(match_rule(compiled, item) is not Certainty.NO for item in touched)
    inner = [item for item in touched if not _wraps_another(item, touched, finding.span)]
    return bool(inner) and all(match_rule(compiled, item) is Certainty.YES for item in inner)


def _wraps_another(item: Seen, touched: list[Seen], span: Span) -> bool:
    if item.wrapper is not None:
        return False
    return any(
        _inside(span, other.command.span)
        and _inside(other.command.span, item.command.span)
        and other.command.span != item.command.span
        for other in touched
    )


def _risk_rule_vote(layer: Layer, compiled: CompiledRule, finding: Finding) -> Decision:
    rule = compiled.rule
    return Decision(
        effect=rule.effect,
        rule=rule.id,
        layer=layer.name,
        reason=f"{rule.reason} ({finding.reason})" if rule.reason else finding.reason,
        span=finding.span,
        hint=rule.hint or finding.hint,
        always=rule.effect == "ask",
        unyielding=rule.effect == "ask" and _beyond_blanket_yes(finding),
    )


def _risk_vote(layer: Layer, finding: Finding) -> list[Decision]:
    vote = layer.risk_vote(finding.risk)
    effect = (vote.high if finding.severity == "high" else vote.normal) if vote else "delegate"
    if effect == "delegate":
        return []
    return [
        Decision(
            effect=effect,
            rule=f"risk:{finding.risk}",
            layer=layer.name,
            reason=finding.reason,
            span=finding.span,
            hint=finding.hint,
            unyielding=effect == "ask" and _beyond_blanket_yes(finding),
        )
    ]


def _beyond_blanket_yes(finding: Finding) -> bool:
    return finding.severity == "high" or finding.risk in _BEYOND_BLANKET_YES


def _path_votes(layers: tuple[Layer, ...], analysis: Analysis, box: BoxPaths) -> Iterator[Decision]:
    """Yield the votes on paths seen in the text; what a program does unseen, the box contains."""
    for path, span in _normal((*analysis.writes, *analysis.deletes), box):
        yield from protected_votes(layers, path, span=span)
        name = "default:write" if within(path, box.workspace) else ""
        for layer in layers:
            yield from rule_votes(layer, layer.writes, path, span=span, default_rule=name)
    for path, span in _normal(analysis.trees, box):
        yield from protected_votes(layers, path, span=span, tree=True)
    for path, span in _normal(analysis.reads, box):
        name = "default:read" if within(path, box.workspace) else ""
        for layer in layers:
            yield from rule_votes(layer, layer.reads, path, span=span, default_rule=name)


def _normal(paths: Iterable[tuple[str, Span]], box: BoxPaths) -> Iterator[tuple[str, Span]]:
    for path, span in paths:
        yield normal_path(path, box.workspace), span


def _writes_of(command: SimpleCommand, analysis: Analysis) -> tuple[str | None, ...]:
    spans = [command.span, *(redirect.span for redirect in command.redirects if redirect.writes)]
    changed = (*analysis.writes, *analysis.deletes)
    known = [path for path, span in changed if any(overlap(span, mine) for mine in spans)]
    unknown = any(item.writes and item.target is None for item in command.redirects)
    return (*known, None) if unknown else tuple(known)


def _inside(inner: Span, outer: Span) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
