"""The system prompt of a session: its files are read once, before the box is there; then it is pure.

Switching a skill or a model puts the same material together again, so that switching back gives the
same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.config.settings import PromptSettings, Settings
from orchestrator.context.options import ContextOptions
from orchestrator.context.speech import Speech
from orchestrator.harness.box_spec import WORKDIR
from orchestrator.harness.egress.way import lets_out
from orchestrator.harness.governed import Governed
from orchestrator.harness.models.models import Models
from orchestrator.harness.options import RunOptions, WorkspaceMode
from orchestrator.harness.project_file import project_roots
from orchestrator.harness.project_texts import PROMPTS, ProjectTexts
from orchestrator.harness.record import Record
from orchestrator.harness.trust import TrustStore
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.evaluate import evaluate
from orchestrator.prompts.assemble import Assembled, approximate_tokens, assemble
from orchestrator.prompts.build import PromptFacts, PromptSources, prompt_parts
from orchestrator.prompts.discover import Found, find_files
from orchestrator.prompts.layer import Part, SkillParts
from orchestrator.prompts.library import Library
from orchestrator.prompts.tree import shipped_texts, with_users
from orchestrator.schema.event import Observer
from orchestrator.schema.head_event import PromptAssembled
from orchestrator.schema.message import ToolDefinition
from orchestrator.schema.request import ReadRequest
from orchestrator.schema.shares import Shares
from orchestrator.schema.terminal_text import escape_terminal


@dataclass(frozen=True, slots=True)
class Prompts:
    """What a session's prompt is made of."""

    sources: PromptSources
    bare: PromptSources
    """Without what the project says."""
    settings: PromptSettings
    library: Library
    """Templates, those of summaries among them."""
    way_out: bool
    date: str
    notes: tuple[str, ...] = ()
    """Why something was left out, for the person."""
    compacting: ContextOptions = field(default_factory=ContextOptions)
    """When the conversation beside it is compacted."""

    def under(self, mode: WorkspaceMode) -> Prompts:
        """Return what holds where the directory enters the box so: not at all says nothing."""
        return replace(self, sources=self.bare, notes=()) if mode == "none" else self

    def assemble(
        self,
        tools: Sequence[str],
        *,
        skill: SkillParts | None = None,
        more: Sequence[Part] = (),
        model: str = "",
        thinking: str = "",
        budget: int | None = None,
        scrub: Callable[[str], str] = str,
    ) -> Assembled:
        """Return the prompt for these tools; ``budget`` in tokens, None for no limit.

        ``more`` are further parts, each the last of its layer. ``scrub`` takes known secrets out.
        Raises PromptError.
        """
        facts = PromptFacts(
            WORKDIR,
            self.date,
            tuple(tools),
            way_out=self.way_out,
            model=model,
            thinking=thinking,
            role=self.settings.role,
            rules=self.settings.rules,
        )
        parts = prompt_parts(facts, self.sources, skill=skill, scrub=scrub)
        return assemble([*parts, *more], budget=budget)


async def open_prompts(
    governed: Governed, settings: Settings, paths: Paths, *, note: Callable[[str], None]
) -> Prompts:
    """Read what a session's prompt is made of, and tell what was left out."""
    read = partial(read_prompts, governed.options, settings.prompt, paths, policy=governed.policy)
    prompts = await to_thread.run_sync(read)
    for remark in prompts.notes:
        note(escape_terminal(remark))
    compacting = ContextOptions(settings.context.reserve, settings.context.keep)
    return replace(prompts, compacting=compacting)


def read_prompts(
    options: RunOptions, settings: PromptSettings, paths: Paths, *, policy: EffectivePolicy
) -> Prompts:
    """Read the user's texts and the project's; raises PromptError for one of the user's own.

    A project that a person distrusts says nothing in the prompt.
    """
    own = with_users(shipped_texts(), paths.config / PROMPTS)
    roots = tuple(project_roots(options.directory))
    project = ProjectTexts(options.directory, TrustStore(paths))
    texts = project.over(own)
    library = project.library(paths)
    found = _files(roots, settings, paths, policy=policy)
    return Prompts(
        PromptSources(texts, found.files, found.nested),
        PromptSources(own),
        settings,
        library,
        lets_out(policy),
        datetime.now(UTC).date().isoformat(),
        (*texts.notes, *library.notes, *found.notes),
    )


def prompt_budget(window: int, tools: int, *, shares: Shares, options: ContextOptions) -> int:
    """Return how many tokens a prompt may have in a model's window, beside ``tools`` tokens of tools.

    Its share counts only where the whole would pass the point of compaction: a large window leaves
    what the recent conversation does not need.
    """
    recent = min(options.keep, int(window * shares.conversation))
    return max(int(window * shares.system), options.trigger(window) - recent) - tools


def open_speech(
    prompts: Prompts,
    tools: Sequence[ToolDefinition],
    models: Models,
    *,
    record: Record,
    observe: Observer,
    scrub: Callable[[str], str],
    skill: SkillParts | None = None,
    more: Sequence[Part] = (),
    shares: Shares | None = None,
) -> Speech:
    """Return what requests carry besides the conversation, recorded and told.

    ``tools`` are those on offer now; a skill that is on narrows them, and may have ``shares``.
    """
    info = models.info
    speech = Speech("", tuple(tools), models.thinking, shares or Shares())
    prompt = prompts.assemble(
        [tool.name for tool in tools],
        skill=skill,
        more=more,
        model=info.id,
        thinking=models.thinking or "",
        budget=prompt_budget(
            info.context_window,
            tool_tokens(tools),
            shares=speech.shares,
            options=prompts.compacting,
        ),
        scrub=scrub,
    )
    record_prompt(prompt, record, observe, skill=skill.name if skill else None)
    return replace(speech, system=prompt.text)


def tool_tokens(tools: Sequence[ToolDefinition]) -> int:
    """Return about how many tokens the tools' definitions have."""
    return approximate_tokens(
        "".join(f"{tool.name}{tool.description}{json.dumps(tool.input_schema)}" for tool in tools)
    )


def record_prompt(
    prompt: Assembled, record: Record, observe: Observer, *, skill: str | None = None
) -> None:
    """Keep in the chain and the session, and tell, what was put together.

    The chain says of each part where it is from; the session keeps only what differs from the last.
    """
    facts = {
        "kind": "prompt",
        "digest": prompt.digest,
        "layers": dict(prompt.layers),
        "trimmed": list(prompt.trimmed),
    }
    parts = [f"{part.layer}:{part.name} {part.source}" for part in prompt.parts]
    record.audit.append("prompt", {**facts, "parts": parts, "skill": skill})
    store = record.store
    last = next(
        (
            entry.body
            for entry in reversed(store.tree.path())
            if entry.type == "custom" and entry.body.get("kind") == "prompt"
        ),
        None,
    )
    if last != facts:
        store.append("custom", facts)
    observe(PromptAssembled(prompt.digest, dict(prompt.layers), prompt.trimmed))


def _files(
    roots: Sequence[Path], settings: PromptSettings, paths: Paths, *, policy: EffectivePolicy
) -> Found:
    if not settings.context_files:
        return Found(())
    trust = TrustStore(paths)
    if distrusted := [root for root in roots if trust.vouched(root) is False]:
        note = f"{distrusted[0]}: you do not vouch for it, so its AGENTS.md and CLAUDE.md are not in the prompt"
        return Found((), notes=(note,))

    return find_files(roots, may_read=partial(may_read, policy))


def may_read(policy: EffectivePolicy, path: str) -> bool:
    """Say whether policy shows the model a project's file; ``path`` is relative to the directory."""
    place = f"{WORKDIR}/{path.replace('../', '')}"
    request = ReadRequest(place, resolved=place)
    return evaluate(policy, request, tool="read").effect == "allow"
