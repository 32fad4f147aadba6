"""The verdict on one Request: pure, strictest vote wins, and no error ever lets a call through."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.policy.ballot import FLOOR, count, poll
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.judge_command import command_votes
from orchestrator.policy.judge_file import file_votes
from orchestrator.policy.judge_input import Reader, input_votes
from orchestrator.policy.layer import Layer
from orchestrator.schema.decision import Decision, Risk
from orchestrator.schema.request import (
    ExecRequest,
    FileRequest,
    ProcessInput,
    ProcessStart,
    Request,
)
from orchestrator.shell.analyse import analyse


def evaluate(
    policy: EffectivePolicy, request: Request, *, tool: str, read: Reader = analyse
) -> Decision:
    """Return the decision on a request that the tool planned; never raises.

    An error inside the gate is a refusal that says so: a call that cannot be judged does not run.
    """
    try:
        return _decide(policy, request, tool=tool, read=read)
    except Exception as err:  # noqa: BLE001 - the gate fails closed, whatever broke in it
        return _broken(err)


def evaluate_command(policy: EffectivePolicy, request: ExecRequest) -> Decision:
    """Return the decision on a command line alone, whatever tool would run it; never raises."""
    try:
        votes, risks = _on_command(policy, request, analyse)
        return count(votes, risks=risks)
    except Exception as err:  # noqa: BLE001 - the gate fails closed, whatever broke in it
        return _broken(err)


def evaluate_tool(policy: EffectivePolicy, tool: str) -> Decision:
    """Return the decision on a tool by its name, whatever a call of it would do."""
    return count(list(_tool_votes(policy.layers, tool)))


def _decide(policy: EffectivePolicy, request: Request, *, tool: str, read: Reader) -> Decision:
    layers, box = policy.layers, policy.box
    on_tool = list(_tool_votes(layers, tool))
    if isinstance(request, FileRequest):
        on_files = file_votes(layers, request, box=box, read_roots=policy.read_roots)
        return count([*on_files, *on_tool])
    if isinstance(request, ExecRequest):
        votes, risks = _on_command(policy, request, read)
        votes += [] if tool == "bash" else _bash_votes(layers)
    elif isinstance(request, ProcessStart):
        votes, risks = _on_command(policy, request, read)
        votes += _bash_votes(layers)
    elif isinstance(request, ProcessInput):
        votes, risks = input_votes(layers, request, box=box, read=read)
        votes += _bash_votes(layers)
    else:
        # To look at, list or signal what was started before reaches nothing new.
        votes, risks = [], ()
    return count([*votes, *on_tool], risks=risks)


def _broken(err: Exception) -> Decision:
    return Decision(
        effect="deny",
        rule="gate-error",
        layer=FLOOR,
        reason=f"the gate failed on this call: {type(err).__name__}: {str(err)[:200]}",
        hint="write it in a simpler form; please report this as a bug",
    )


def _on_command(
    policy: EffectivePolicy, request: ExecRequest | ProcessStart, read: Reader
) -> tuple[list[Decision], tuple[Risk, ...]]:
    layers, box = policy.layers, policy.box
    analysis = read(request.command, cwd=request.cwd, home=box.home, workspace=box.workspace)
    risks: tuple[Risk, ...] = tuple(dict.fromkeys(item.risk for item in analysis.findings))
    return list(command_votes(layers, analysis, box=box)), risks


def _bash_votes(layers: tuple[Layer, ...]) -> list[Decision]:
    """Return what is said of the tool ``bash`` by name: another way to run a command is no way out."""
    return [vote for vote in _tool_votes(layers, "bash") if vote.rule == "tool:bash"]


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
