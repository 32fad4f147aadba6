"""Case files: commands and requests with the verdict they must get, for people and for CI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from orchestrator.errors import PolicyError
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.egress_text import parse_egress
from orchestrator.policy.gather import read_policy_text
from orchestrator.policy.judged import EGRESS, Judged, judge
from orchestrator.policy.rules import Section
from orchestrator.policy.validate import validate_tree
from orchestrator.policy.yaml_nodes import Node, find, parse_yaml
from orchestrator.schema.decision import Effect
from orchestrator.schema.egress import EgressRequest
from orchestrator.schema.request import (
    EditRequest,
    ExecRequest,
    FindRequest,
    GrepRequest,
    ListRequest,
    ReadRequest,
    Request,
    WriteRequest,
)

MAX_CASE_BYTES = 8 * 1024 * 1024
MAX_CASE_NODES = 500_000

_TIMEOUT_S = 120.0
_EXPECT: dict[str, frozenset[str]] = {
    "allow": frozenset({"allow"}),
    "ask": frozenset({"ask"}),
    "deny": frozenset({"deny"}),
    "deny-or-ask": frozenset({"ask", "deny"}),
}
_FILE_REQUESTS: dict[str, Callable[[str, str], Request]] = {
    "read": lambda path, resolved: ReadRequest(path, resolved=resolved),
    "write": lambda path, resolved: WriteRequest(path, "", resolved=resolved),
    "edit": lambda path, resolved: EditRequest(path, (), resolved=resolved),
    "grep": lambda path, resolved: GrepRequest("", path, resolved=resolved),
    "find": lambda path, resolved: FindRequest("*", path, resolved=resolved),
    "ls": lambda path, resolved: ListRequest(path, resolved=resolved),
}
_TOOLS = {"exec": "bash"}


class CommandCase(Section):
    """A command line and its verdict."""

    id: Annotated[str, Field(min_length=1)]
    command: str
    expect: Literal["allow", "ask", "deny", "deny-or-ask"]
    cwd: str = "/workspace"
    tool: str = "bash"
    why: str = ""
    source: str = ""


class FileTarget(Section):
    """A file request: ``resolved`` is where the path lands, the path itself when left out."""

    kind: Literal["read", "write", "edit", "grep", "find", "ls"]
    path: str
    resolved: str | None = None


class FileCase(Section):
    """A file request and its verdict."""

    id: Annotated[str, Field(min_length=1)]
    request: FileTarget
    expect: Literal["allow", "ask", "deny", "deny-or-ask"]
    tool: str = ""
    why: str = ""
    source: str = ""


class EgressCase(Section):
    """A request out of the box and its verdict."""

    id: Annotated[str, Field(min_length=1)]
    request: str
    """As ``policy explain --request`` takes it: ``GET https://host/path``, ``CONNECT host:port``."""
    expect: Literal["allow", "ask", "deny", "deny-or-ask"]
    why: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One case."""

    id: str
    expect: str
    request: Judged
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that did not get the verdict it must."""

    id: str
    expected: str
    got: Effect
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class CaseReport:
    """How a policy did."""

    passed: int
    failed: tuple[Failure, ...]
    ids: tuple[str, ...] = ()
    """Of all cases, in order."""

    def as_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "passed": self.passed,
            "failed": [
                {"id": item.id, "expected": item.expected, "got": item.got, "rule": item.rule}
                for item in self.failed
            ],
        }


def load_cases(path: Path) -> tuple[Case, ...]:
    """Return the cases in a file; PolicyError where it cannot be read, too."""
    return parse_cases(read_policy_text(path, limit=MAX_CASE_BYTES), file=str(path))


def parse_cases(text: str, *, file: str) -> tuple[Case, ...]:
    """Return the cases of a file; raises PolicyError that begins with ``file:line``."""
    tree = parse_yaml(text, file=file, max_bytes=MAX_CASE_BYTES, max_nodes=MAX_CASE_NODES)
    if not isinstance(tree.value, tuple) or not tree.value:
        raise PolicyError(f"{tree.at}: expected a list of cases")
    cases = tuple(_parse_case(node) for node in tree.value)
    seen: set[str] = set()
    for case, node in zip(cases, tree.value, strict=True):
        if case.id in seen:
            raise PolicyError(f"{node.at}: case id {case.id!r} is used twice")
        seen.add(case.id)
    return cases


def run_cases(policy: EffectivePolicy, cases: tuple[Case, ...]) -> CaseReport:
    """Judge every case."""
    failed = tuple(failure for case in cases if (failure := _failure(policy, case)) is not None)
    return CaseReport(len(cases) - len(failed), failed, tuple(case.id for case in cases))


def _failure(policy: EffectivePolicy, case: Case) -> Failure | None:
    decision = judge(policy, case.request, tool=case.tool)
    if decision.effect in _EXPECT[case.expect]:
        return None
    return Failure(case.id, case.expect, decision.effect, decision.rule, decision.reason)


def _parse_case(node: Node) -> Case:
    if find(node, ("policy",)) is not None:
        raise PolicyError(
            f"{node.at}: a case has no policy of its own; all are judged by that of --policy"
        )
    if find(node, ("command",)) is not None:
        command = validate_tree(node, CommandCase)
        request = ExecRequest(command.command, command.cwd, _TIMEOUT_S)
        return Case(command.id, command.expect, request, command.tool)
    asked = find(node, ("request",))
    if asked is None:
        raise PolicyError(f"{node.at}: a case needs the key 'command' or 'request'")
    if isinstance(asked.value, str):
        leaving = validate_tree(node, EgressCase)
        return Case(leaving.id, leaving.expect, _leaving(leaving.request, asked), EGRESS)
    item = validate_tree(node, FileCase)
    target = item.request
    make = _FILE_REQUESTS[target.kind]
    resolved = target.path if target.resolved is None else target.resolved
    return Case(item.id, item.expect, make(target.path, resolved), item.tool or target.kind)


def _leaving(text: str, node: Node) -> EgressRequest:
    try:
        return parse_egress(text)
    except ValueError as err:
        raise PolicyError(f"{node.at}: request: {err}") from err
