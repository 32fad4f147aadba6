"""The verdict on one Request: pure, strictest vote wins, and no error ever lets a call through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from orchestrator.policy.ballot import FLOOR, count, poll
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.judge_command import command_votes
from orchestrator.policy.judge_file import file_votes
from orchestrator.policy.layer import Layer
from orchestrator.schema.decision import Decision, Risk
from orchestrator.schema.request import ExecRequest, Request
from orchestrator.shell.analyse import analyse
from orchestrator.shell.analysis import Analysis


class Reader(Protocol):
    """Reads a command line; ``orchestrator.shell.analyse.analyse`` or a cache before it."""

    def __call__(self, command: str, *, cwd: str, home: str, workspace: str) -> Analysis:
        """Return everything known of the command."""
        ...


def evaluate(
    policy: EffectivePolicy, request: Request, *, tool: str, read: Reader = analyse
) -> Decision:
    """Return the decision on a request that the tool planned; never raises.

    An error inside the gate is a refusal that says so: a call that cannot be judged does not run.
    """
    try:
        return _decide(policy, request, tool=tool, read=read)
    except Exception as err:  # noqa: BLE001 - the gate fails closed, whatever broke in it
        return Decision(
            effect="deny",
            rule="gate-error",
            layer=FLOOR,
            reason=f"the gate failed on this call: {type(err).__name__}: {str(err)[:200]}",
            hint="write it in a simpler form; please report this as a bug",
        )


def _decide(policy: EffectivePolicy, request: Request, *, tool: str, read: Reader) -> Decision:
    layers, box = policy.layers, policy.box
    if not isinstance(request, ExecRequest):
        on_files = file_votes(layers, request, box=box, read_roots=policy.read_roots)
        return count([*on_files, *_tool_votes(layers, tool)])
    analysis = read(request.command, cwd=request.cwd, home=box.home, workspace=box.workspace)
    votes = [*command_votes(layers, analysis, box=box), *_tool_votes(layers, tool)]
    risks: tuple[Risk, ...] = tuple(dict.fromkeys(item.risk for item in analysis.findings))
    return count(votes, risks=risks)


def _tool_votes(layers: tuple[Layer, ...], tool: str) -> Iterator[Decision]:
    def votes_of(layer: Layer) -> list[Decision]:
        return [
            Decision(
                effect=effect,
                rule=f"tool:{key}",
                layer=layer.name,
                reason=f"tools.{key} is {effect}",
                always=effect == "ask",
            )
            for key, effect in layer.tool_votes(tool)
        ]

    yield from poll(layers, votes_of, question=f"the tool {tool!r}", key=f"tools.{tool}")
