"""Secrets of a host that exists in a test only."""

from __future__ import annotations


class FixedSecrets:
    """Gives values from a table, and counts how often it was asked."""

    def __init__(self, **values: str) -> None:
        self.values = values
        self.asked: list[str] = []

    def value(self, reference: str) -> str:
        self.asked.append(reference)
        try:
            return self.values[reference]
        except KeyError:
            raise LookupError(f"no key named {reference}") from None
