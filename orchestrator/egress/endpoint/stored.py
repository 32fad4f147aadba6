"""What a request would take from the provider's store, and leave there. Pure.

An earlier answer, a file or a cache of the same account is no part of the request: it may be another
session's, and what it holds is billed by the call though the body does not show its size. Only
what stands in the request may be shown to a model, and nothing is left to point to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.egress.endpoint.blocks import Block, blocks, objects
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.routes import Route

RULE = "models.box.remote"
_FIELDS = frozenset(
    {
        *("previousresponseid", "conversation", "conversationid", "prompt", "threadid"),
        *("container", "containerid", "cachedcontent", "fileids"),
    }
)
"""Of a request; names are compared without case and underscores, as some servers do."""
_IN_BLOCKS = frozenset(
    {
        *("fileid", "fileids", "fileuri", "containerid", "cachedcontent", "previousresponseid"),
        *("imageid", "audioid", "videoid", "vectorstoreid", "vectorstoreids"),
    }
)
_TYPES = frozenset({"item_reference", "container_upload"})
_CONTENT: Mapping[str, tuple[str, ...]] = {
    "apply_patch_call": ("operation",),
    "apply_patch_call_output": ("output", "status"),
    "compaction": ("encrypted_content",),
    "compaction_summary": ("encrypted_content",),
    "computer_call": ("action", "actions"),
    "computer_call_output": ("output",),
    "custom_tool_call": ("input", "name"),
    "custom_tool_call_output": ("output",),
    "function_call": ("arguments", "name"),
    "function_call_output": ("output", "call_id"),
    "local_shell_call": ("action",),
    "local_shell_call_output": ("output",),
    "message": ("content",),
    "reasoning": ("encrypted_content", "content"),
    "shell_call": ("action",),
    "shell_call_output": ("output",),
    "tool_search_call": ("arguments",),
    "tool_search_output": ("tools",),
}
"""Kind of an item of Responses, and what it holds when it is whole; else its id is a reference."""


def refuse_stored(data: Block, route: Route) -> None:
    """RefusedCallError where a request points to what is kept at the provider."""
    for name, value in _top(data, route):
        # Old completions call their text so.
        if value and _plain(name) in _FIELDS and not (name == "prompt" and isinstance(value, str)):
            raise _kept(name)
    for place, block in blocks(data, route):
        found = _reference(block)
        if found:
            raise _kept(f"{place}: {found}")
    if route.tail == "/responses":
        for item in objects(data.get("input")):
            _check_item(item)


def not_kept(data: Block, route: Route) -> Block:
    """Return the body asking the provider to keep nothing; the same object where it does."""
    keeps = data.get("store", route.tail == "/responses")
    if route.shape != "openai" or route.kind != "generate" or keeps is False:
        return data
    return {**data, "store": False}


def _top(data: Block, route: Route) -> list[tuple[str, Any]]:
    found = list(data.items())
    if route.shape == "gemini":
        for name, value in data.items():
            if _plain(name) == "generatecontentrequest":
                found += [pair for inner in objects(value) for pair in inner.items()]
    return found


def _reference(block: Block) -> str:
    """Return the name by which a part points to the store; empty where it does not."""
    kind = block.get("type")
    if isinstance(kind, str) and kind in _TYPES:
        return kind
    for name, value in block.items():
        plain = _plain(name)
        if value and (plain in _IN_BLOCKS or (plain == "filedata" and not _is_inline(value))):
            return name
    audio = block.get("audio")
    return "audio.id" if isinstance(audio, dict) and audio.get("id") else ""


def _check_item(item: Block) -> None:
    if not item.get("id"):
        return
    kind = item.get("type") or ("message" if "role" in item else "")
    needed = _CONTENT.get(kind, ()) if isinstance(kind, str) else ()
    if any(item.get(name) for name in needed):
        return
    hint = ""
    if kind == "reasoning":
        hint = '; ask for include: ["reasoning.encrypted_content"], so that answers have it whole'
    raise _kept(f"input: an item of type {str(kind)[:40]!r} that is an id alone", hint)


def _is_inline(value: Any) -> bool:
    return isinstance(value, str) and (value.startswith("data:") or ":" not in value[:64])


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()


def _kept(place: str, hint: str = "") -> RefusedCallError:
    return RefusedCallError(
        403,
        f"{place}: this is kept at the provider, and policy shows a model only what stands in the "
        f"request; put the content itself there{hint}",
        rule=RULE,
    )
