"""The network section of a drafted policy: what recorded sessions let out, as rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from orchestrator.policy.evidence import Seen
from orchestrator.policy.replay import RecordedCall
from orchestrator.policy.suggest_egress import RuleDraft, draft_of, rule_id
from orchestrator.schema.decision import Effect
from orchestrator.schema.egress import EgressRequest

MOST_PATHS = 20
"""Paths of one rule; more of them are named by the folder they have in common."""


@dataclass(slots=True)
class _Use:
    paths: dict[str, None] = field(default_factory=dict)
    seen: Seen = field(default_factory=Seen)


@dataclass(slots=True)
class NetworkDraft:
    """Collects requests that were let out, or asked about."""

    _uses: dict[tuple[RuleDraft, Effect], _Use] = field(default_factory=dict)
    _packages: dict[str, Seen] = field(default_factory=dict)

    def add(self, call: RecordedCall) -> None:
        """Take in a recorded request; one that was refused adds nothing."""
        if not isinstance(call.request, EgressRequest) or call.effect == "deny":
            return
        kind, _, client = call.rule.partition(":")
        if kind == "packages":
            self._packages.setdefault(client, Seen()).add(call)
            return
        draft = draft_of(call.request)
        if draft is not None:
            use = self._uses.setdefault((replace(draft, paths=()), call.effect), _Use())
            use.paths.update(dict.fromkeys(draft.paths))
            use.seen.add(call)

    def lines(self) -> Iterator[str]:
        """Yield the section; nothing where nothing was let out."""
        if not self._uses and not self._packages:
            return
        yield "network:"
        yield "  default: deny"
        if self._packages:
            yield f"  packages: [{', '.join(sorted(self._packages))}]"
            yield from (f"  # {client}: {seen}" for client, seen in sorted(self._packages.items()))
        if self._uses:
            yield "  rules:"
        ids: dict[str, int] = {}
        for (draft, effect), use in self._uses.items():
            name = rule_id(draft)
            ids[name] = ids.get(name, 0) + 1
            unique = name if ids[name] == 1 else f"{name}-{ids[name]}"
            rule = replace(draft, paths=_in_few(tuple(use.paths)))
            yield f"    # {use.seen}"
            yield from (f"    {line}" for line in rule.lines(unique, effect))
        yield ""


def _in_few(paths: tuple[str, ...]) -> tuple[str, ...]:
    if len(paths) <= MOST_PATHS:
        return paths
    folders = dict.fromkeys("/" + path.split("/")[1] + "/**" for path in paths if path != "/")
    return ("/**",) if len(folders) > MOST_PATHS else (*folders, *(("/",) if "/" in paths else ()))
