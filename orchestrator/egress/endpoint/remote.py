"""What a request would have the provider do elsewhere: fetch addresses, search, run tools. Pure.

A provider that fetches for the box is a way out that no network rule sees: the address itself
carries the message. So the provider's own tools are taken away, and only content that stands in the
request may be shown to a model. What is not known to run with the client counts as the provider's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.egress.endpoint.blocks import blocks
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.routes import Route

RULE = "models.box.remote"
_CLIENT_RUN: Mapping[str, frozenset[str]] = {
    "anthropic": frozenset({"", "custom"}),
    "openai": frozenset(
        {
            *("function", "custom", "local_shell", "apply_patch", "namespace", "tool_search"),
            *("computer", "computer_use_preview"),
        }
    ),
}
_CLIENT_RUN_PREFIXES = ("bash_", "computer_", "memory_", "text_editor_", "tool_search_tool_")
"""Of Anthropic's dated tools."""
_GEMINI_CLIENT_RUN = frozenset(
    {"functionDeclarations", "function_declarations", "computerUse", "computer_use"}
)
_SWITCHES = frozenset({"plugins", "search_parameters", "web_search_options"})
"""Fields of Chat and its imitators by which a provider searches."""
_SERVERS = "mcp_servers"


def without_remote(data: Mapping[str, Any], route: Route) -> Mapping[str, Any]:
    """Return the body without the provider's own tools; the same object where there were none.

    RefusedCallError where the provider would have to fetch what the request is about.
    """
    if data.get(_SERVERS):
        raise _fetches(_SERVERS)
    for place, block in blocks(data, route):
        if _points_elsewhere(block):
            raise _fetches(place)
    changed = {name: value for name, value in data.items() if name not in _SWITCHES}
    tools = data.get("tools")
    if tools is not None:
        kept = _kept_tools(tools, route)
        if kept != tools:
            changed["tools"] = kept
            if not kept:
                del changed["tools"]
    return data if changed == data else changed


def _fetches(place: str) -> RefusedCallError:
    return RefusedCallError(
        403,
        f"{place}: the provider would fetch or ask this elsewhere, which policy keeps it from; put "
        "the content itself into the request",
        rule=RULE,
    )


def _kept_tools(tools: Any, route: Route) -> list[Any]:
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise RefusedCallError(400, "tools: expected a list of objects")
    if route.shape == "gemini":
        kept = [{k: v for k, v in tool.items() if k in _GEMINI_CLIENT_RUN} for tool in tools]
        return [tool for tool in kept if tool]
    return [_inner(tool, route) for tool in tools if _runs_here(tool, route)]


def _inner(tool: Mapping[str, Any], route: Route) -> Mapping[str, Any]:
    """Return a tool; of a group of tools what runs here."""
    if route.shape == "openai" and tool.get("type") == "namespace" and "tools" in tool:
        return {**tool, "tools": _kept_tools(tool["tools"], route)}
    return tool


def _runs_here(tool: Mapping[str, Any], route: Route) -> bool:
    kind = tool.get("type", "")
    if not isinstance(kind, str):
        return False
    if kind in _CLIENT_RUN[route.shape]:
        return True
    return route.shape == "anthropic" and kind.startswith(_CLIENT_RUN_PREFIXES)


def _points_elsewhere(block: Mapping[str, Any]) -> bool:
    if block.get("type") == "url":
        return True
    return any(
        _is_address(value)
        for name, value in block.items()
        if name == "url" or name.endswith("_url")
    )


def _is_address(value: Any) -> bool:
    address = value.get("url") if isinstance(value, dict) else value
    return isinstance(address, str) and address != "" and not address.startswith("data:")
