"""What a session came to, counted from its entries: turns, models, tools, skills. Pure.

An unknown price stays unknown: it is never counted as nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orchestrator.schema.ids import EntryId
from orchestrator.schema.message import Usage
from orchestrator.sessions.entry import Entry

CHARACTERS_A_TOKEN = 4
TURNS = "turns"
"""The purpose of calls that are turns of the conversation."""
NO_SKILL = ""


@dataclass(slots=True)
class Tally:
    """Model calls together."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    known_usd: float = 0.0
    """Of the calls whose cost is known."""
    unpriced: int = 0
    """Calls whose cost is not known."""
    saved_usd: float = 0.0
    """By caching, as far as it is known."""

    @property
    def cost_usd(self) -> float | None:
        """US dollars; None while any call's is unknown."""
        return None if self.unpriced else self.known_usd

    def add(self, usage: Usage, cost_usd: float | None, saved_usd: float | None) -> None:
        """Count one call."""
        self.calls += 1
        self.usage += usage
        self.known_usd += cost_usd or 0.0
        self.unpriced += cost_usd is None
        self.saved_usd += saved_usd or 0.0

    def join(self, other: Tally) -> None:
        """Count all of another's calls."""
        self.calls += other.calls
        self.usage += other.usage
        self.known_usd += other.known_usd
        self.unpriced += other.unpriced
        self.saved_usd += other.saved_usd


@dataclass(slots=True)
class ToolTally:
    """One tool's calls, what they cost, and what they put into the conversation."""

    calls: int = 0
    errors: int = 0
    characters: int = 0
    """Of results."""
    images: int = 0
    known_usd: float = 0.0
    """Of the answers that called it; what an answer cost is shared by its calls."""
    unpriced: int = 0
    """Calls of answers whose cost is not known."""
    estimated: int = 0
    """Calls of answers whose tokens the provider did not tell."""

    @property
    def cost_usd(self) -> float | None:
        """US dollars; None while any answer's is unknown."""
        return None if self.unpriced else self.known_usd

    @property
    def tokens(self) -> int:
        """Roughly: characters by four; images are not in it."""
        return self.characters // CHARACTERS_A_TOKEN

    def join(self, other: ToolTally) -> None:
        """Count all of another's calls."""
        self.calls += other.calls
        self.errors += other.errors
        self.characters += other.characters
        self.images += other.images
        self.known_usd += other.known_usd
        self.unpriced += other.unpriced
        self.estimated += other.estimated


@dataclass(frozen=True, slots=True)
class TurnStats:
    """One answer of a model."""

    number: int
    """From 1 along its branch."""
    entry: EntryId
    time: str
    model: str
    skill: str
    stop_reason: str
    usage: Usage
    cost_usd: float | None
    saved_usd: float | None
    tools: tuple[str, ...]


@dataclass(slots=True)
class Stats:
    """All of it."""

    turns: list[TurnStats] = field(default_factory=list)
    """On all branches, in the order of the file."""
    total: Tally = field(default_factory=Tally)
    models: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    skills: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    """Under "" what was done under no skill."""
    purposes: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    """``turns``, and each purpose of calls beside the conversation."""
    tools: defaultdict[str, ToolTally] = field(default_factory=lambda: defaultdict(ToolTally))
    said: int = 0
    """Messages of the person."""
    entries: int = 0
    compactions: int = 0


def stats_of(entries: Sequence[Entry], above: Sequence[Entry] = ()) -> Stats:
    """Return what entries came to; all of a file's, a path's, or a copy's own.

    ``above`` are entries before them, which number turns and set the skill, and count for nothing.
    """
    stats = Stats(entries=len(entries))
    numbers: dict[EntryId, int] = {}
    skills: dict[EntryId, str] = {}
    for entry in above:
        _stand(entry, numbers, skills)
    for entry in entries:
        _stand(entry, numbers, skills)
        if entry.type == "message":
            _count_message(stats, entry, numbers[entry.id], skills[entry.id])
        elif entry.type == "custom" and entry.body.get("kind") == "usage":
            count_call(stats, entry.body, skills[entry.id])
        elif entry.type == "compaction":
            stats.compactions += 1
    return stats


def dollars(cost_usd: float | None, counted: Usage | ToolTally) -> str:
    """Return a cost as it is shown: unknown, or by estimate where the provider told no tokens."""
    if cost_usd is None:
        return "cost unknown"
    return f"{'about ' if counted.estimated else ''}${cost_usd:.4f}"


def joined(parts: Iterable[Stats]) -> Stats:
    """Return several sessions' sums as one."""
    whole = Stats()
    for part in parts:
        whole.turns += part.turns
        whole.said += part.said
        whole.entries += part.entries
        whole.compactions += part.compactions
        whole.total.join(part.total)
        for own, other in (
            (whole.models, part.models),
            (whole.skills, part.skills),
            (whole.purposes, part.purposes),
        ):
            for name, tally in other.items():
                own[name].join(tally)
        for name, tool in part.tools.items():
            whole.tools[name].join(tool)
    return whole


def _stand(entry: Entry, numbers: dict[EntryId, int], skills: dict[EntryId, str]) -> None:
    """Note an entry's number of answers up to it, and the skill that it is under."""
    number = numbers.get(entry.parent, 0) if entry.parent else 0
    skill = skills.get(entry.parent, NO_SKILL) if entry.parent else NO_SKILL
    if entry.type == "skill_change":
        skill = str(entry.body.get("skill") or NO_SKILL)
    numbers[entry.id] = number + _is_answer(entry)
    skills[entry.id] = skill


def _is_answer(entry: Entry) -> bool:
    return entry.type == "message" and entry.body["role"] == "assistant"


def _count_message(stats: Stats, entry: Entry, number: int, skill: str) -> None:
    body = entry.body
    if body["role"] == "user":
        stats.said += 1
    elif body["role"] == "tool":
        for result in body["results"]:
            tool = stats.tools[str(result["name"])]
            tool.errors += bool(result["is_error"])
            tool.characters += len(result["output"])
            tool.images += len(result.get("images", ()))
    else:
        tools = tuple(str(p["name"]) for p in body["content"] if p["type"] == "tool_call")
        call = _Call.of(body, skill, TURNS)
        call.count(stats)
        for name in tools:
            tool = stats.tools[name]
            tool.calls += 1
            tool.known_usd += (call.cost_usd or 0.0) / len(tools)
            tool.unpriced += call.cost_usd is None
            tool.estimated += call.usage.estimated > 0
        turn = TurnStats(
            number,
            entry.id,
            entry.time,
            call.model,
            call.skill,
            str(body.get("stop_reason", "")),
            call.usage,
            call.cost_usd,
            call.saved_usd,
            tools,
        )
        stats.turns.append(turn)


def count_call(stats: Stats, body: Mapping[str, Any], skill: str = NO_SKILL) -> None:
    """Count a call that is no turn: ``purpose model usage cost_usd saved_usd skill``."""
    _Call.of(body, skill, str(body.get("purpose") or "other")).count(stats)


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a model."""

    model: str
    skill: str
    purpose: str
    usage: Usage
    cost_usd: float | None
    saved_usd: float | None

    @classmethod
    def of(cls, body: Mapping[str, Any], skill: str, purpose: str) -> _Call:
        return cls(
            str(body.get("model") or "unknown"),
            str(body.get("skill") or skill),
            purpose,
            _usage(body.get("usage")),
            _dollars(body.get("cost_usd")),
            _dollars(body.get("saved_usd")),
        )

    def count(self, stats: Stats) -> None:
        for tally in (
            stats.total,
            stats.models[self.model],
            stats.skills[self.skill],
            stats.purposes[self.purpose],
        ):
            tally.add(self.usage, self.cost_usd, self.saved_usd)


def _usage(data: Any) -> Usage:
    """Return the counts that are there; a file may hold anything."""
    given = data if isinstance(data, Mapping) else {}
    names = ("input", "output", "cache_read", "cache_write", "estimated")
    return Usage(*(_count(given.get(name)) for name in names))


def _count(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0


def _dollars(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and value >= 0 else None
