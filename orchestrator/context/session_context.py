"""The context of one session: each request fits, whatever was said before.

Past the trigger, old results are shortened first where they take more than their share; where that
is not enough the conversation is compacted, and once more, harder, where the kept part alone is too
long. What then does not fit is never sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from orchestrator.context.cutting import Cut, find_cut
from orchestrator.context.dialogue import Files
from orchestrator.context.marks import held
from orchestrator.context.options import ContextOptions
from orchestrator.context.pictures import Lightened, lighten
from orchestrator.context.sizes import fixed_tokens, message_tokens
from orchestrator.context.speech import Speech
from orchestrator.context.summarising import Summariser
from orchestrator.context.thoughts import Forgotten, forget
from orchestrator.context.trimming import results_share, trim
from orchestrator.context.view import View
from orchestrator.errors import ContextError, GloveboxError, ModelError, UsageError
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.schema.codec import encode_usage
from orchestrator.schema.event import Observer
from orchestrator.schema.head_event import CompactionEnd, CompactionStart, ContextTrimmed
from orchestrator.schema.ids import EntryId
from orchestrator.schema.message import Message
from orchestrator.schema.picture_tokens import PictureRule
from orchestrator.schema.text_tokens import text_tokens
from orchestrator.sessions.edits import edit_contexts
from orchestrator.sessions.projection import Seen, repair
from orchestrator.sessions.store import SessionStore
from orchestrator.sessions.tree import EntryTree

Reason = Literal["threshold", "overflow", "manual"]

SLACK = 10
"""A tenth of the window is freed at once, so that the next turns need no further change."""
STOPPED = "stopped; nothing is changed"
SHRINK = 4
"""A quarter of what a provider refused is freed at least, where it can be."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction that is on disk."""

    tokens_before: int
    tokens_after: int
    summary: str


@dataclass(slots=True)
class SessionContext:
    """One session's; ``info`` tells of the model that is asked now."""

    store: SessionStore
    info: Callable[[], ModelInfo]
    summariser: Callable[[], Summariser]
    observe: Observer
    scrub: Callable[[str], str]
    options: ContextOptions = field(default_factory=ContextOptions)
    _view: View = field(init=False)

    def __post_init__(self) -> None:
        """Look at the session's tree from here on."""
        self._view = View(self.store.tree)

    async def request(self, speech: Speech) -> Prompt:
        """Return the next request; raises ContextError where nothing makes it fit."""
        if self.tokens(speech) > self._trigger and not self._trimmed_enough(speech):
            await self._compact_until_it_fits(speech)
        tokens, limit = self.tokens(speech), self.options.limit(self._window)
        if tokens > limit:
            raise ContextError(
                f"the conversation has about {tokens} tokens after all was summarised and shortened "
                f"that can be: expected at most {limit} for {self.info().id}; nothing was sent",
                hint="go on with a model with a longer window, or say less at once",
            )
        return self._prompt(speech)

    async def shrink(self, speech: Speech) -> bool:
        """Make it shorter because the provider said it was too long; False where nothing can be.

        A compaction that takes little is none: then kept results are shortened, then all is
        summarised. Estimates are compared, since what was reported is of what was refused.
        """
        before = self._view.estimated(speech, self.info())
        enough = before - max(before // SHRINK, 1)
        for kept in (self._kept(speech) // 2, 0):
            await self._compact(speech, "overflow", keep=kept)
            excess = self._view.estimated(speech, self.info()) - enough
            if excess > 0:
                self._trim(self._view.seen, excess, least=1)
            if self._view.estimated(speech, self.info()) <= enough:
                return True
        return self._view.estimated(speech, self.info()) < before

    async def lighten(self, speech: Speech) -> bool:
        """Take out pictures because the provider refused their size; False where none is sent.

        All but the newest go first; that one goes when it is asked for again.
        """
        chosen = lighten(self._view.seen) if self.info().images else []
        if not chosen:
            return False
        saved = self._leave_out(speech, chosen)
        self.observe(ContextTrimmed("images", sum(item.count for item in chosen), saved))
        return True

    async def forget_thoughts(self, speech: Speech) -> bool:
        """Leave out what the provider no longer takes back, from here on; False without any.

        Thoughts and signatures of the model that is asked go, the session file keeps them. What
        it thinks from now on is sent back again.
        """
        chosen = list(forget(self._view.seen, self.info()))
        if not chosen:
            return False
        saved = self._leave_out(speech, chosen)
        self.observe(ContextTrimmed("thoughts", sum(item.count for item in chosen), saved))
        return True

    async def compact(self, speech: Speech, *, focus: str = "") -> Compacted | None:
        """Compact because the person wants it; None where there is nothing to summarise."""
        kept = self._kept(speech)
        return await self._compact(speech, "manual", keep=kept, focus=focus)

    def tokens(self, speech: Speech) -> int:
        """Return how many tokens the next request has, about."""
        return self._view.tokens(speech, self.info())

    def room(self, speech: Speech) -> int:
        """Return the tokens that the results of the turn that runs may have together.

        What is free below the trigger; where that is little, their share of the window, for which
        older results make room.
        """
        free = self._trigger - self.tokens(speech)
        return max(free, int(speech.shares.tool_results * self._window))

    @property
    def _window(self) -> int:
        return self.info().context_window

    @property
    def _rule(self) -> PictureRule:
        return self.info().picture_rule

    def _kept(self, speech: Speech) -> int:
        return self.options.kept(self._window, fixed_tokens(speech.system, speech.tools))

    @property
    def _trigger(self) -> int:
        return self.options.trigger(self._window)

    def _prompt(self, speech: Speech) -> Prompt:
        return Prompt(
            speech.system,
            self._view.messages(),
            speech.tools,
            thinking=speech.thinking,
            cache_key=self.store.header.id,
            answers=self._view.answers,
        )

    def _trimmed_enough(self, speech: Speech) -> bool:
        """Shorten old results where they take more than their share; say whether all fits now."""
        seen = self._view.seen
        if results_share(seen, self._rule) <= speech.shares.tool_results * self._window:
            return False
        excess = self.tokens(speech) - self._trigger + self._window // SLACK
        old = find_cut(seen, self._kept(speech), self._rule).before
        return self._trim(old, excess, least=excess - self._window // SLACK)

    def _trim(self, seen: Sequence[Seen], excess: int, *, least: int) -> bool:
        """Shorten results; where not even ``least`` can be saved, nothing is changed."""
        chosen = trim(seen, excess, self._rule)
        saved = sum(item.saved for item in chosen)
        if not chosen or saved < least:
            return False
        self._tell_instead((item.entry, item.message) for item in chosen)
        self.observe(ContextTrimmed("tool_results", len(chosen), saved))
        return True

    def _leave_out(self, speech: Speech, chosen: Iterable[Lightened | Forgotten]) -> int:
        """Tell these messages instead; return the tokens that this saves, about."""
        before = self.tokens(speech)
        self._tell_instead((item.entry, item.message) for item in chosen)
        return max(before - self.tokens(speech), 0)

    def _tell_instead(self, edits: Iterable[tuple[EntryId, Message]]) -> None:
        try:
            edit_contexts(self.store, edits)
        except UsageError as error:
            # What was chosen is what is seen, so this is a mistake of ours: nothing is sent on it.
            raise ContextError(
                f"the conversation cannot be shortened: {error.message}", hint=error.hint
            ) from error

    async def _compact_until_it_fits(self, speech: Speech) -> None:
        """Compact; where the kept part alone is too long, shorten it, and then compact all of it."""
        await self._compact(speech, "threshold", keep=self._kept(speech))
        excess = self.tokens(speech) - self._trigger
        if excess > 0:
            self._trim(self._view.seen, excess, least=1)
        if self.tokens(speech) > self._trigger:
            await self._compact(speech, "threshold", keep=0)

    async def _compact(
        self, speech: Speech, reason: Reason, *, keep: int, focus: str = ""
    ) -> Compacted | None:
        seen, leaf = self._view.seen, self.store.tree.leaf
        previous, rest = _without_summary(seen)
        cut = find_cut(rest, keep, self._rule)
        if not cut.before:
            return None
        before = self.tokens(speech)
        self.observe(CompactionStart(reason, before))
        try:
            body = await self._summarised(previous, cut, focus)
            if _went_on(self.store.tree, leaf):
                raise ContextError(
                    "the conversation went on while it was summarised; nothing is changed"
                )
        except anyio.get_cancelled_exc_class():
            self.observe(CompactionEnd(reason, before, before, STOPPED))
            raise
        except GloveboxError as error:
            self.observe(CompactionEnd(reason, before, before, self.scrub(error.message)))
            if isinstance(error, ModelError):
                raise ContextError(
                    f"the conversation cannot be compacted: {error.message}", hint=error.hint
                ) from error
            raise
        kept = sum(message_tokens(seen.message, self._rule) for seen in cut.kept)
        after = kept + text_tokens(body["summary"]) + fixed_tokens(speech.system, speech.tools)
        self.store.append(
            "compaction",
            {**body, "tokens_before": before, "tokens_after": after, "reason": reason},
        )
        self.store.sync()
        self.observe(CompactionEnd(reason, before, after))
        return Compacted(before, after, body["summary"])

    async def _summarised(self, previous: Seen | None, cut: Cut, focus: str) -> dict[str, Any]:
        """Return the body of the entry, but for its sizes."""
        messages = repair(seen.message for seen in cut.before)
        body = previous.entry.body if previous is not None else {}
        summariser = self.summariser()
        told = str(body.get("text") or body.get("summary") or "")
        text, usage = await summariser.compact(
            messages, previous=told, focus=focus, split=cut.splits_turn
        )
        text = held(self.scrub(text))
        files = Files.of_body(body).with_calls(messages)
        return {
            "summary": text + files.text(),
            "text": text,
            "first_kept": cut.kept[0].entry.id if cut.kept else None,
            "focus": focus,
            "files": {"read": list(files.read), "modified": list(files.modified)},
            "usage": encode_usage(usage),
            "model": summariser.client.info.id,
        }


def _went_on(tree: EntryTree, leaf: EntryId | None) -> bool:
    """Say whether anything but a note was added since ``leaf``, or the conversation moved."""
    at = tree.leaf
    while at is not None and at != leaf and tree.by_id[at].type == "custom":
        at = tree.by_id[at].parent
    return at != leaf


def _without_summary(seen: Sequence[Seen]) -> tuple[Seen | None, Sequence[Seen]]:
    """Return the newest compaction apart: it is merged into the next, and not told twice."""
    if seen and seen[0].entry.type == "compaction":
        return seen[0], seen[1:]
    return None, seen
