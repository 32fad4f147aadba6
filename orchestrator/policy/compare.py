"""Two policies compared by what they decide, on a corpus of commands, paths and requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.policy.cases import Case
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.egress_samples import rule_requests
from orchestrator.policy.egress_text import parse_egress
from orchestrator.policy.judged import EGRESS, Judged, judge, judged_subject
from orchestrator.policy.show import setting_rows
from orchestrator.schema.decision import Decision
from orchestrator.schema.request import (
    ExecRequest,
    ReadRequest,
    WriteRequest,
)
from orchestrator.shell.programs import load_programs

_TIMEOUT_S = 120.0
_PATHS = (
    "README.md", "src/app.py", "Makefile", "package.json", ".git/config", ".git/hooks/pre-commit",
    ".github/workflows/ci.yml", ".vscode/tasks.json", ".envrc", ".env", "config/.env",
    "secrets/key.pem", ".ssh/id_ed25519", "../outside.txt",
)  # fmt: skip

_LEAVING = (
    "CONNECT www.example.com:443", "CONNECT www.example.com:22", "GET https://www.example.com/",
    "POST https://www.example.com/", "GET http://www.example.com/", "GET wss://www.example.com/",
    "GET http://localhost:8080/", "GET http://10.0.0.1/", "GET http://169.254.169.254/latest/",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """One request on which the two decide differently."""

    request: Judged
    tool: str
    before: Decision
    after: Decision

    def as_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "tool": self.tool,
            "subject": judged_subject(self.request),
            "before": {"effect": self.before.effect, "rule": self.before.rule},
            "after": {"effect": self.after.effect, "rule": self.after.rule},
            "reason": self.after.reason,
        }


def differences(
    before: EffectivePolicy, after: EffectivePolicy, corpus: Iterable[tuple[Judged, str]]
) -> Iterator[Difference]:
    """Yield every request of the corpus whose effect differs."""
    for request, tool in corpus:
        one = judge(before, request, tool=tool)
        other = judge(after, request, tool=tool)
        if one.effect != other.effect:
            yield Difference(request, tool, one, other)


def changed_settings(before: EffectivePolicy, after: EffectivePolicy) -> dict[str, tuple[str, str]]:
    """Return the settings whose values differ, by key; an empty text stands for none."""
    one = {row.key: row.value for row in setting_rows(before)}
    other = {row.key: row.value for row in setting_rows(after)}
    return {
        key: (one.get(key, ""), other.get(key, ""))
        for key in sorted({*one, *other})
        if one.get(key) != other.get(key)
    }


def builtin_corpus(*policies: EffectivePolicy) -> list[tuple[Judged, str]]:
    """Return what is compared where nothing else is given.

    Every example in the program tables and in the rules of the policies, some paths that policies
    are about, and requests out of the box: some, and those that the network rules speak of.
    """
    commands: dict[str, None] = {}
    for spec in load_programs().values():
        commands.update(dict.fromkeys((*spec.examples.match, *spec.examples.no_match)))
    for policy in policies:
        commands.update(dict.fromkeys(_rule_examples(policy)))
    requests: list[tuple[Judged, str]] = [
        (ExecRequest(command, "/workspace", _TIMEOUT_S), "bash") for command in commands
    ]
    for path in _PATHS:
        full = f"/workspace/{path}" if not path.startswith("..") else "/outside.txt"
        requests.append((ReadRequest(full, resolved=full), "read"))
        requests.append((WriteRequest(full, "", resolved=full), "write"))
    leaving = dict.fromkeys((*_LEAVING, *(text for one in policies for text in rule_requests(one))))
    requests += [(parse_egress(text), EGRESS) for text in leaving]
    return requests


def case_corpus(cases: Sequence[Case]) -> list[tuple[Judged, str]]:
    """Return the requests of case files; what they expect is not asked."""
    return [(case.request, case.tool) for case in cases]


def _rule_examples(policy: EffectivePolicy) -> Iterator[str]:
    for layer in policy.layers:
        commands = layer.document.commands
        for rule in (commands.rules or ()) if commands else ():
            if rule.examples is not None:
                yield from rule.examples.match
                yield from rule.examples.no_match
