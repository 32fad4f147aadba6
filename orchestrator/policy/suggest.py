"""The narrowest policy under which recorded sessions would have gone as they did: a draft."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.evidence import Evidence, Seen, Use, gather, use_of
from orchestrator.policy.replay import Flip, RecordedCall, replay
from orchestrator.policy.suggest_network import NetworkDraft
from orchestrator.schema.decision import Effect, Risk
from orchestrator.schema.egress import EgressRequest
from orchestrator.schema.request import (
    ExecRequest,
    FileRequest,
    ProcessStart,
    file_access,
)
from orchestrator.shell.analyse import analyse

Load = Callable[[str], EffectivePolicy]
"""A policy file's text, as the only layer."""

ROUNDS = 4
"""How often a draft is mended by what a replay still decides otherwise."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A rule of the draft, and why it is there."""

    use: Use
    effect: Effect
    why: str
    example: str = ""
    risks: tuple[Risk, ...] = ()


@dataclass(slots=True)
class Draft:
    """What the draft says; ``text`` writes it down."""

    name: str
    tools: dict[str, tuple[Effect, str]] = field(default_factory=dict)
    commands: list[CommandLine] = field(default_factory=list)
    paths: dict[tuple[str, str], tuple[Effect, str]] = field(default_factory=dict)
    """Access and path to effect and evidence."""
    network: NetworkDraft = field(default_factory=NetworkDraft)

    def text(self) -> str:
        """Return the policy file."""
        return "\n".join(_lines(self)) + "\n"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A draft that was tried on what it was made of."""

    text: str
    left: tuple[Flip, ...]
    """Calls on which it decides otherwise, which no rule of a policy could say."""


def suggest(calls: Sequence[RecordedCall], load: Load, *, name: str) -> Suggestion:
    """Return a policy that allows what was allowed, asks what was asked and little else."""
    of_tools = [call for call in calls if not isinstance(call.request, EgressRequest)]
    draft = _first_draft(gather(of_tools, home="/home/agent", workspace="/workspace"), name)
    for call in calls:
        draft.network.add(call)
    left = _flips(draft, calls, load)
    for _ in range(ROUNDS):
        if not left or not _mend(draft, left):
            break
        left = _flips(draft, calls, load)
    return Suggestion(draft.text(), left)


def _first_draft(evidence: Evidence, name: str) -> Draft:
    draft = Draft(name)
    draft.tools = {tool: ("allow", str(seen)) for tool, seen in sorted(evidence.tools.items())}
    for use, seen in sorted(evidence.uses.items(), key=lambda item: _order(item[0])):
        draft.commands.append(CommandLine(use, "allow", str(seen), _example(seen)))
    for path, seen in sorted(evidence.writes.items()):
        draft.paths["write", path] = ("allow", str(seen))
    return draft


def _flips(draft: Draft, calls: Sequence[RecordedCall], load: Load) -> tuple[Flip, ...]:
    return tuple(replay(load(draft.text()), calls))


def _mend(draft: Draft, flips: Iterable[Flip]) -> bool:
    """Add what the flips show to be missing; say whether anything was."""
    before = draft.text()
    for flip in flips:
        call = flip.call
        evidence = f"{call.effect} by {call.rule} at {call.chain} seq {call.seq}"
        kind = call.rule.partition(":")[0]
        if isinstance(call.request, EgressRequest):
            # Its rule says all that one can say of it.
            continue
        if kind == "tool":
            draft.tools[call.tool] = (call.effect, evidence)
        elif isinstance(call.request, FileRequest):
            path = call.request.resolved or call.request.path
            draft.paths[file_access(call.request), path] = (call.effect, evidence)
        elif isinstance(call.request, ExecRequest | ProcessStart):
            _mend_command(draft, flip, call.request, evidence)
    return draft.text() != before


def _mend_command(
    draft: Draft, flip: Flip, request: ExecRequest | ProcessStart, evidence: str
) -> None:
    analysis = analyse(request.command, cwd=request.cwd)
    risks = flip.now.risks if flip.call.effect == "allow" else ()
    for command in analysis.commands:
        use = use_of(command, whole=True)
        if use is None or not (use.exact or flip.call.effect == "allow"):
            # To ask about or refuse a program whatever its arguments would say too much.
            continue
        line = CommandLine(use, flip.call.effect, evidence, request.command)
        if line not in draft.commands:
            draft.commands.append(line)
        if risks:
            risky = CommandLine(use, "allow", evidence, "", tuple(risks))
            if risky not in draft.commands:
                draft.commands.append(risky)
    if flip.call.effect == "allow":
        for path, _ in (*analysis.writes, *analysis.deletes):
            draft.paths["write", path] = ("allow", evidence)


def _order(use: Use) -> tuple[str, tuple[str, ...]]:
    return use.program, use.args


def _example(seen: Seen) -> str:
    return seen.example if "\n" not in seen.example and len(seen.example) <= 200 else ""


def _lines(draft: Draft) -> Iterator[str]:
    yield "# Drafted from what recorded sessions did; each comment is a line's evidence."
    yield "# What was asked is still asked, and what nobody did is asked too: loosen by hand."
    yield "version: 1"
    yield f"name: {_word(draft.name)}"
    yield "extends: [default]"
    yield ""
    yield "tools:"
    yield "  default: deny"
    for tool, (effect, why) in draft.tools.items():
        yield f"  {tool}: {effect}  # {why}"
    yield ""
    yield "commands:"
    yield "  default: ask"
    if draft.commands:
        yield "  rules:"
    for number, line in enumerate(draft.commands, 1):
        yield from _rule(number, line)
    yield ""
    yield from draft.network.lines()
    yield "files:"
    for access in ("read", "write"):
        yield from _file_rules(access, draft)


def _rule(number: int, line: CommandLine) -> Iterator[str]:
    use = line.use
    yield f"    # {line.why}"
    yield f"    - id: used-{number}"
    yield f"      program: {_word(use.program)}"
    if use.args:
        yield f"      args: [{', '.join(f'[{_word(word)}]' for word in use.args)}]"
    if line.risks:
        yield f"      risks: [{', '.join(line.risks)}]"
    yield f"      effect: {line.effect}"


def _file_rules(access: str, draft: Draft) -> Iterator[str]:
    given = [(path, *item) for (kind, path), item in draft.paths.items() if kind == access]
    yield f"  {access}:"
    yield f"    default: {'ask' if access == 'write' else 'allow'}"
    if given:
        yield "    rules:"
    for number, (path, effect, why) in enumerate(given, 1):
        yield f"      # {why}"
        yield f"      - id: {access}-{number}"
        yield f"        paths: [{_word(_as_glob(path))}]"
        yield f"        effect: {effect}"


def _as_glob(path: str) -> str:
    """Return a glob that matches the path alone."""
    return "".join(f"[{char}]" if char in "*?[{" else char for char in path)


def _word(text: str) -> str:
    """Return a YAML scalar that is read as this text whatever is in it."""
    return json.dumps(text)
