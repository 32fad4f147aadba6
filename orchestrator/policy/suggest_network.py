"""The network section of a drafted policy: what recorded sessions let out, as rules."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from orchestrator.policy.evidence import Seen
from orchestrator.policy.replay import RecordedCall
from orchestrator.policy.suggest_egress import RuleDraft, draft_of, rule_id
from orchestrator.schema.decision import Effect
from orchestrator.schema.egress import EgressRequest

MOST_PATHS = 20
"""Paths of one rule; of more, those below one folder are named by what they have in common."""


@dataclass(slots=True)
class _Use:
    paths: dict[str, None] = field(default_factory=dict)
    seen: Seen = field(default_factory=Seen)
    injected: dict[tuple[str, str], None] = field(default_factory=dict)
    """Each secret that was put in, with the rule that let the request out."""


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
            use.injected.update(dict.fromkeys((secret, call.rule) for secret in call.injected))

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
            yield from (f"      {line}" for line in _dropped(use))
        yield ""


def _dropped(use: _Use) -> Iterator[str]:
    """Yield what a rule's requests had put in, which records tell by name alone."""
    for secret, rule in use.injected:
        yield f"# inject: {{secret: {json.dumps(secret)}}}"
        yield (
            f"# dropped: a record has the secret's name and no more of its form; take `inject` over "
            f"from the rule {json.dumps(rule)}"
        )


def _in_few(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return at most so many; folders with the most paths are named whole, a lone path never is."""
    below: dict[str, list[str]] = {}
    for path in paths:
        below.setdefault(path.split("/")[1], []).append(path)
    few = list(paths)
    for folder in sorted(below.values(), key=len, reverse=True):
        if len(few) > MOST_PATHS and len(folder) > 1:
            whole = f"{posixpath.commonpath(folder)}/**"
            few = [whole, *(path for path in few if path not in folder)]
    return tuple(few) if len(few) <= MOST_PATHS else ("/**",)
