"""What is told the model of a session, kept up to date entry by entry.

A conversation is looked at before every request. Reading its whole path each time would make a long
session slower with every turn, so only what was added since is read; a jump, a compaction or an edit
has everything read anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from orchestrator.context.sizes import FixedTokens, message_tokens
from orchestrator.context.speech import Speech
from orchestrator.model.client import ModelInfo
from orchestrator.schema.ids import CallId, EntryId
from orchestrator.schema.message import AssistantMessage, Message, ToolMessage, Usage
from orchestrator.schema.picture_tokens import PictureRule
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.projection import Seen, repair, visible
from orchestrator.sessions.tree import EntryTree

_CHANGERS = frozenset({"compaction", "context_edit"})
"""Entries after which what was read before is not what is told now."""


FIXED = "fixed_tokens"
"""Stands beside an answer: what system prompt and tools of its request were reckoned at."""


@dataclass(frozen=True, slots=True)
class _Anchor:
    """An answer whose model reported what its request had."""

    at: int
    used: int
    fixed: int


class View:
    """One session's; each property is of the conversation as it stands."""

    def __init__(self, tree: EntryTree) -> None:
        """Look at a tree that grows; nothing is read yet."""
        self._tree = tree
        self._leaf: EntryId | None = None
        self._fixed = FixedTokens()
        self._rule: PictureRule = "unknown"
        self._begin([])

    def _begin(self, seen: Sequence[Seen]) -> None:
        self._seen: list[Seen] = []
        self._sums = [0]
        self._answers = 0
        self._anchors: dict[str, _Anchor] = {}
        self._settled: list[Message] = []
        self._settled_to = 0
        self._ids: set[CallId] = set()
        for item in seen:
            self._take(item)

    @property
    def seen(self) -> Sequence[Seen]:
        """What is told, before pairs are repaired."""
        self._refresh()
        return tuple(self._seen)

    @property
    def answers(self) -> int:
        """How many answers the path has, also those that a summary took the place of."""
        self._refresh()
        return self._answers

    def messages(self) -> tuple[Message, ...]:
        """Return what is told, fit to be sent."""
        self._refresh()
        recent = [item.message for item in self._seen[self._settled_to :]]
        if not _stands_alone(recent):
            return repair(item.message for item in self._seen)
        return (*self._settled, *repair(recent, set(self._ids)))

    def tokens(self, speech: Speech, model: ModelInfo) -> int:
        """Return the tokens of the next request to ``model``.

        What the model's last answer reported counts for all up to it, the rest is estimated: what
        was said since, and by how much system prompt and tools have changed since. Another model's
        tokens are others. What was shortened or hidden since is taken off; answers from before the
        last compaction count what is not told any more: they do not count.
        """
        self._weigh_by(model.picture_rule)
        self._refresh()
        fixed = self._fixed.of(speech.system, speech.tools)
        anchor = self._anchors.get(model.id)
        if anchor is None:
            return self._sums[-1] + fixed
        since = self._sums[-1] - self._sums[anchor.at + 1]
        return max(anchor.used + fixed - anchor.fixed, 0) + since

    def estimated(self, speech: Speech, model: ModelInfo) -> int:
        """Return the tokens of the next request, nothing believed that was reported."""
        self._weigh_by(model.picture_rule)
        self._refresh()
        return self._sums[-1] + self._fixed.of(speech.system, speech.tools)

    def _weigh_by(self, rule: PictureRule) -> None:
        """Count pictures by another rule from here on."""
        if rule != self._rule:
            self._rule = rule
            self._read_anew()
            self._leaf = self._tree.leaf

    def _refresh(self) -> None:
        leaf = self._tree.leaf
        if leaf == self._leaf:
            return
        fresh = self._since(leaf)
        if fresh is None or any(entry.type in _CHANGERS for entry in fresh):
            self._read_anew()
        else:
            for item in visible(fresh):
                self._take(item)
        self._leaf = leaf

    def _since(self, leaf: EntryId | None) -> list[Entry] | None:
        """Return what hangs below the entry that was read last; None where nothing does."""
        fresh: list[Entry] = []
        while leaf is not None and leaf != self._leaf:
            entry = self._tree.by_id[leaf]
            fresh.append(entry)
            leaf = entry.parent
        return fresh[::-1] if leaf == self._leaf else None

    def _read_anew(self) -> None:
        path = self._tree.path()
        self._begin(visible(path))
        self._answers = sum(_is_answer(entry) for entry in path)
        places = {entry.id: place for place, entry in enumerate(path)}
        compacted = max(
            (n for n, entry in enumerate(path) if entry.type == "compaction"), default=-1
        )
        edited = max(
            (n for n, entry in enumerate(path) if entry.type == "context_edit"), default=-1
        )
        found = self._anchors.items()
        reported = {model: (a, places[self._seen[a.at].entry.id]) for model, a in found}
        self._anchors = {
            model: self._mended(anchor, path[: place + 1]) if place < edited else anchor
            for model, (anchor, place) in reported.items()
            if place > compacted
        }

    def _mended(self, anchor: _Anchor, then: Sequence[Entry]) -> _Anchor:
        """Return the anchor less what edits have saved since its request, ``then`` its path."""
        before = sum(message_tokens(seen.message, self._rule) for seen in visible(then))
        return replace(anchor, used=anchor.used - before + self._sums[anchor.at + 1])

    def _take(self, item: Seen) -> None:
        message = item.message
        if isinstance(message, AssistantMessage):
            self._settle()
            self._answers += 1
            fixed = item.entry.body.get(FIXED)
            if isinstance(fixed, int) and _counts_what_was_sent(message.usage):
                at = len(self._seen)
                self._anchors[message.model] = _Anchor(at, message.usage.total, fixed)
        self._seen.append(item)
        self._sums.append(self._sums[-1] + message_tokens(message, self._rule))

    def _settle(self) -> None:
        """Count what came before an answer as done: from here on only its results may follow."""
        recent = [item.message for item in self._seen[self._settled_to :]]
        if _stands_alone(recent):
            self._settled += repair(recent, self._ids)
        else:
            self._ids = set()
            self._settled = list(repair((item.message for item in self._seen), self._ids))
        self._settled_to = len(self._seen)


def _counts_what_was_sent(usage: Usage) -> bool:
    """Say whether a request's own tokens are in it: some servers tell only the answer's, or none."""
    return usage.total > usage.output and not usage.estimated


def _stands_alone(messages: Iterable[Message]) -> bool:
    """Say whether every result is one of a call among these messages.

    Ids can come twice: a second result is then one of an older call that still waits.
    """
    waiting: Counter[CallId] = Counter()
    for message in messages:
        if isinstance(message, AssistantMessage):
            waiting.update(call.id for call in message.tool_calls)
        elif isinstance(message, ToolMessage):
            waiting.subtract(_answered(message))
            if min(waiting.values(), default=0) < 0:
                return False
    return True


def _answered(message: ToolMessage) -> Iterable[CallId]:
    return (result.call for result in message.results)


def _is_answer(entry: Entry) -> bool:
    return entry.type == "message" and entry.body["role"] == "assistant"
