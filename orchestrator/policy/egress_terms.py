"""What a yes comes with: the strictest of all layers that said it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from orchestrator.policy.addresses import common_ranges
from orchestrator.policy.network_match import CompiledNetworkRule, NetworkLayer
from orchestrator.policy.network_rules import Injection
from orchestrator.schema.egress import Budget, InjectionTerms, Terms

Yes = tuple[NetworkLayer, Sequence[CompiledNetworkRule]]
"""A layer that votes, and its rules that say yes; none where its default does."""


def terms_of(
    voting: Sequence[Yes],
    *,
    each: Sequence[Sequence[Yes]],
    sure: Sequence[CompiledNetworkRule],
    https: bool,
) -> Terms:
    """Return the terms of a request.

    ``each`` has who says yes to each reading of it, of which every one must open a range. ``sure``
    rules match however it is read: only they give credentials, and those go by https alone. Every
    rule that may match limits.
    """
    rules = [item for _, found in voting for item in found]
    return Terms(
        private=_common(_private(reading) for reading in each),
        injections=injections_of([item for item in rules if item in sure]) if https else (),
        max_upload=_least(item.rule.max_upload for item in rules),
        max_download=_least(item.rule.max_download for item in rules),
        budgets=tuple(
            Budget(item.name, item.rule.session_upload, item.rule.session_download)
            for item in rules
            if item.rule.session_upload or item.rule.session_download
        ),
    )


def session_budgets(layers: Iterable[NetworkLayer]) -> tuple[Budget, ...]:
    """Return what the layers let a whole session pass."""
    return tuple(
        Budget(layer.name, layer.max_upload, layer.max_download)
        for layer in layers
        if layer.max_upload or layer.max_download
    )


def injections_of(rules: Iterable[CompiledNetworkRule]) -> tuple[InjectionTerms, ...]:
    """Return the rules' credentials, each that is the same in all but its rule once, none of a project.

    Two different ones for one place of a request are both named; whoever puts them in refuses it.
    """
    found: dict[tuple[str, str, str, str], InjectionTerms] = {}
    for item in rules:
        if item.rule.inject is not None and item.layer != "project":
            terms = _terms(item.name, item.rule.inject)
            name = terms.name.lower() if terms.form == "header" else terms.name
            found.setdefault((terms.secret, terms.form, name, terms.format), terms)
    return tuple(found.values())


def _terms(rule: str, inject: Injection) -> InjectionTerms:
    form, name = inject.form
    return InjectionTerms(
        rule=rule,
        secret=inject.secret,
        form=form,
        name=name,
        format=inject.format,
        variables=inject.variables,
    )


def _private(voting: Sequence[Yes]) -> tuple[str, ...]:
    """Return the ranges that every layer which votes opens; a default opens none.

    A project neither opens any nor is it asked to.
    """
    return _common(
        tuple(cidr for item in found for cidr in item.rule.private)
        for layer, found in voting
        if layer.name != "project"
    )


def _common(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the ranges that lie in all lists of them; none where there is no list."""
    found = dict.fromkeys(tuple(dict.fromkeys(ranges)) for ranges in lists)
    return reduce(common_ranges, found) if found else ()


def _least(limits: Iterable[int | None]) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)
