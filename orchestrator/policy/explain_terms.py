"""What a yes to a request out of the box comes with, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from orchestrator.policy.hosts import special_name
from orchestrator.policy.units import show_size
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressRequest, Terms


def terms_rows(terms: Terms) -> Iterator[tuple[str, str]]:
    """Yield label and text; nothing for a plain yes."""
    if terms.inspect:
        yield "opened", "each request inside is judged by itself"
    for item in terms.injections:
        form = "Basic credentials of" if item.form == "basic" else f"the {item.form}"
        where = f"{form} {item.name}".rstrip()
        yield "sends", f"the secret {item.secret!r} in {where}, put in on the host ({item.rule})"
    if terms.private:
        yield "private", f"may have an address in {', '.join(terms.private)}"
    for text, size in (("sent", terms.max_upload), ("got", terms.max_download)):
        if size is not None:
            yield "limit", f"{show_size(size)} {text} at a time"
    for budget in terms.budgets:
        for text, size in (("sent", budget.upload), ("got", budget.download)):
            if size is not None:
                yield "limit", f"{show_size(size)} {text} in the whole session ({budget.name})"


def unopened(request: object, decision: Decision, terms: Terms | None) -> Iterator[str]:
    """Yield what a yes comes to nothing by: a near name, for which no range is open."""
    if not isinstance(request, EgressRequest) or request.door == "dns" or terms is None:
        return
    if decision.effect != "deny" and special_name(request.host) and not terms.private:
        yield (
            f"{request.host} has no public address, and not every rule and reading that lets this out "
            "opens its range by `private`: where it leads to a near one, the proxy refuses it"
        )


def terms_data(terms: Terms) -> dict[str, Any]:
    """Return the terms for a machine."""
    return asdict(terms)
