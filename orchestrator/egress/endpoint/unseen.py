"""Whether a request's size can be told from its body. Pure."""

from __future__ import annotations

from orchestrator.egress.endpoint.blocks import Block, blocks
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.remote import without_remote
from orchestrator.egress.endpoint.routes import Route
from orchestrator.egress.endpoint.stored import refuse_stored

_IMAGE = "image/"


def brings_more(data: Block, route: Route) -> bool:
    """Say whether the provider adds to the prompt what the body does not hold.

    It does where policy's ``remote: deny`` would have taken something out or refused it.
    """
    try:
        refuse_stored(data, route)
        return without_remote(data, route) is not data
    except RefusedCallError:
        return True


def pictures(data: Block, route: Route) -> list[int]:
    """Return the sizes of the pictures in a body, in characters: their bytes say nothing of tokens."""
    texts = [_media(block) for _, block in blocks(data, route)]
    return [len(text) for kind, text in texts if kind.startswith(_IMAGE)]


def has_pages(data: Block, route: Route) -> bool:
    """Say whether a body holds a document whose pages are billed, however few its bytes are."""
    return any(
        kind and not kind.startswith((_IMAGE, "audio/", "text/"))
        for kind, _ in (_media(block) for _, block in blocks(data, route))
    )


def _media(block: Block) -> tuple[str, str]:
    """Return the type and the text of the data that a block holds in itself."""
    inline = block.get("inlineData") or block.get("inline_data")
    if isinstance(inline, dict):
        return _typed(inline.get("mimeType") or inline.get("mime_type"), inline.get("data"))
    if block.get("type") == "base64":
        return _typed(block.get("media_type"), block.get("data"))
    for name in ("image_url", "file_data", "video_url"):
        held = block.get(name)
        address = held.get("url") if isinstance(held, dict) else held
        if isinstance(address, str) and address:
            head, comma, _ = address[:200].partition(",")
            named = head.startswith("data:") and comma
            return _typed(head[5:] if named else "application/octet-stream", address)
    return "", ""


def _typed(kind: object, text: object) -> tuple[str, str]:
    known = kind.lower() if isinstance(kind, str) and kind else "application/octet-stream"
    return known, text if isinstance(text, str) else ""
