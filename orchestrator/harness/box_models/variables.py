"""What programs in the box are told: where models are, and the placeholder that stands for a key."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.egress.endpoint.routes import APIS
from orchestrator.egress.endpoint.upstream import Upstream


def box_variables(upstreams: Iterable[Upstream], placeholder: str, *, port: int) -> dict[str, str]:
    """Return the variables of every API that some provider speaks.

    One key variable an API: clients that find two of them warn, or take the wrong one.
    """
    base = f"http://127.0.0.1:{port}"
    spoken = frozenset().union(*(upstream.apis for upstream in upstreams))
    found: dict[str, str] = {}
    if spoken & APIS["anthropic"]:
        found |= {
            "ANTHROPIC_BASE_URL": base,
            "ANTHROPIC_API_BASE": base,
            "ANTHROPIC_API_KEY": placeholder,
        }
    if spoken & APIS["openai"]:
        found |= {
            "OPENAI_BASE_URL": f"{base}/v1",
            "OPENAI_API_BASE": f"{base}/v1",
            "OPENAI_API_KEY": placeholder,
        }
    if spoken & APIS["gemini"]:
        found |= {"GOOGLE_GEMINI_BASE_URL": base, "GEMINI_API_KEY": placeholder}
    return found
