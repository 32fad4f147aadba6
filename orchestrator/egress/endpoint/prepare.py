"""From a request to what may leave: model, provider, changes, and what it may take. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.egress.endpoint.budget import Amount
from orchestrator.egress.endpoint.choice import Chosen, choose
from orchestrator.egress.endpoint.price import Price
from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.remote import without_remote
from orchestrator.egress.endpoint.request_body import (
    RequestBody,
    parse_body,
    with_data,
    with_model,
    with_output,
)
from orchestrator.egress.endpoint.routes import Route
from orchestrator.egress.endpoint.stored import not_kept, refuse_stored
from orchestrator.egress.endpoint.unseen import brings_more, has_pages
from orchestrator.egress.endpoint.upstream import Upstream
from orchestrator.policy.box_models import BoxModels

_DEARER = ("priority", "fast")
"""Words by which a request asks to be served sooner for a price that is not in the table."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What leaves, and what is known of it."""

    chosen: Chosen
    content: bytes
    price: Price
    amount: Amount
    """What it may take at most; nothing for a count."""
    input_estimate: int
    output_most: int
    changes: tuple[str, ...]
    streams: bool


def prepare(
    raw: bytes, route: Route, upstreams: Sequence[Upstream], *, terms: BoxModels
) -> Prepared:
    """Return what may leave; RefusedCallError says what is wrong with it."""
    body = parse_body(raw, route)
    try:
        return _prepared(body, route, upstreams, terms=terms)
    except RefusedCallError as refused:
        refused.asked = body.model
        raise


def _prepared(
    body: RequestBody, route: Route, upstreams: Sequence[Upstream], *, terms: BoxModels
) -> Prepared:
    chosen = choose(body.model, route, upstreams, terms=terms)
    price = chosen.upstream.price(chosen.model)
    if terms.limits_cost and route.kind != "count":
        _check_price(chosen, price, body)
    changed = with_model(body, chosen.model, route)
    changes = ["model"] if chosen.model != body.model else []
    if terms.remote != "allow":
        changed, more = _closed(changed, route)
        changes += more
    if terms.max_tokens is not None:
        bounded = with_output(changed, terms.max_tokens, route)
        changes += ["max_tokens"] if bounded is not changed else []
        changed = bounded
    counted = route.kind != "count"
    alone = brings_more(changed.data, route) if counted and terms.remote == "allow" else False
    prompt = _prompt(changed, route, chosen, price=price, unseen=alone) if counted else 0
    output = _output(changed, price) if route.kind == "generate" else 0
    return Prepared(
        chosen=chosen,
        content=changed.raw,
        price=price,
        amount=Amount(prompt + output, price.at_most(prompt, output), alone=alone),
        input_estimate=prompt,
        output_most=output,
        changes=tuple(changes),
        streams=changed.streams,
    )


def _closed(body: RequestBody, route: Route) -> tuple[RequestBody, list[str]]:
    """Return a request of which nothing lies at the provider, before or after, and what was changed."""
    refuse_stored(body.data, route)
    changes = []
    data = without_remote(body.data, route)
    if data is not body.data:
        changes.append("hosted tools")
    kept = not_kept(data, route)
    if kept is not data:
        changes.append("store")
    return (with_data(body, kept) if changes else body), changes


def _prompt(body: RequestBody, route: Route, chosen: Chosen, *, price: Price, unseen: bool) -> int:
    """Return how many tokens the prompt may have; a whole window where the body does not show it."""
    if not unseen and not has_pages(body.data, route):
        return body.input_estimate
    if price.window is None:
        raise RefusedCallError(
            403,
            "what this call would take cannot be told from its body, and the window of "
            f"{chosen.spec} is not known. The session's owner can set "
            f"providers.{chosen.upstream.name}.models.{chosen.model}.context_window",
            rule="models.box",
        )
    return max(body.input_estimate, price.window)


def _output(body: RequestBody, price: Price) -> int:
    return (body.output or price.max_output) * body.answers


def _check_price(chosen: Chosen, price: Price, body: RequestBody) -> None:
    """Refuse what would pass a limit in money uncounted."""
    if not price.known:
        provider, model = chosen.upstream.name, chosen.model
        raise RefusedCallError(
            403,
            f"the price of {chosen.spec} is not known, so models.box.cost_usd cannot hold. The "
            f"session's owner can set providers.{provider}.models.{model}.input_price and "
            "output_price in the configuration",
            rule="models.box.cost_usd",
        )
    for name in ("service_tier", "speed"):
        if body.data.get(name) in _DEARER:
            raise RefusedCallError(
                403,
                f"{name}: its price is not known here, so models.box.cost_usd cannot hold; leave "
                "it out",
                rule="models.box.cost_usd",
            )
