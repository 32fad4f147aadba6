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
        data = without_remote(changed.data, route)
        if data is not changed.data:
            changed, changes = with_data(changed, data), [*changes, "hosted tools"]
    if terms.max_tokens is not None:
        bounded = with_output(changed, terms.max_tokens, route)
        changes += ["max_tokens"] if bounded is not changed else []
        changed = bounded
    counted = route.kind != "count"
    prompt = changed.input_estimate if counted else 0
    output = _output(changed, price) if route.kind == "generate" else 0
    return Prepared(
        chosen=chosen,
        content=changed.raw,
        price=price,
        amount=Amount(prompt + output, price.at_most(prompt, output)),
        input_estimate=prompt,
        output_most=output,
        changes=tuple(changes),
        streams=changed.streams,
    )


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
