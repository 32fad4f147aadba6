"""The digest of one artefact as it passes, held against what its index announced."""

from __future__ import annotations

import hashlib

from orchestrator.egress.packages.client import Named
from orchestrator.schema.artefact import Artefact
from orchestrator.schema.packages import Ecosystem


class Digesting:
    """Takes the parts in order; memory does not grow with them."""

    def __init__(self, announced: str, *, part: bool, coding: str) -> None:
        """``announced`` is ``ALGORITHM:HEX`` or empty; ``part`` where only a range was asked for."""
        self._announced = announced
        self._part = part
        self._encoded = coding.strip().lower() not in {"", "identity"}
        self._size = 0
        self._sha256 = hashlib.sha256()
        algorithm = announced.partition(":")[0]
        # Not for safety: an index that announces MD5 alone is held to that.
        self._other = (
            hashlib.new(algorithm, usedforsecurity=False)
            if algorithm not in {"", "sha256"}
            else self._sha256
        )

    def add(self, chunk: bytes) -> None:
        """Take the next part."""
        self._size += len(chunk)
        self._sha256.update(chunk)
        if self._other is not self._sha256:
            self._other.update(chunk)

    def result(self, ecosystem: Ecosystem, named: Named, host: str, *, whole: bool) -> Artefact:
        """Return what passed."""
        problem = self._problem(whole=whole)
        matches = None
        if self._announced and not problem:
            matches = self._other.hexdigest() == self._announced.partition(":")[2]
        return Artefact(
            ecosystem=ecosystem,
            name=named.name,
            version=named.version,
            file=named.file,
            host=host,
            size=self._size,
            sha256=self._sha256.hexdigest(),
            announced=self._announced,
            matches=matches,
            problem=problem,
        )

    def _problem(self, *, whole: bool) -> str:
        if not whole:
            return "the transfer ended early"
        if self._part:
            return "a part of the file was asked for"
        return "it was sent in another coding" if self._encoded else ""
