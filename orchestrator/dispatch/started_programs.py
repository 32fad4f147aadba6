"""The programs that one command started, each once with how often, as the audit keeps them."""

from __future__ import annotations

from typing import Any

from orchestrator.schema.exec_record import ExecReport, ExecSeen

MOST_KEPT = 500
"""Different ones that the audit names; more are counted."""
SHOWN_WORDS = 40
"""Arguments of one that are kept."""


class StartedPrograms:
    """Gathers between two records of the audit."""

    def __init__(self) -> None:
        """Begin with none."""
        self._kept: dict[tuple[str, tuple[str, ...], str], dict[str, Any]] = {}
        self._names: dict[int, str] = {}
        self._count = 0
        self._unlisted = 0

    def add(self, report: ExecReport) -> None:
        """Take one report of the box."""
        self._count += len(report.execs) + report.unlisted
        self._unlisted += report.unlisted
        for seen in report.execs:
            self._keep(seen)

    def counts(self) -> dict[str, int]:
        """Return how many were started, and how many of them the list leaves out."""
        return {"count": self._count, "unlisted": self._unlisted}

    def take(self) -> list[dict[str, Any]]:
        """Return the list, and begin anew."""
        taken = list(self._kept.values())
        self._kept = {}
        self._count = self._unlisted = 0
        return taken

    def _keep(self, seen: ExecSeen) -> None:
        by = self._names.get(seen.parent, "")
        self._names[seen.pid] = seen.name
        key = (seen.path, seen.argv, by)
        if key in self._kept:
            self._kept[key]["times"] += 1
        elif len(self._kept) >= MOST_KEPT:
            self._unlisted += 1
        else:
            self._kept[key] = {
                "argv": list(seen.argv[:SHOWN_WORDS]),
                "path": seen.path,
                "by": by,
                "times": 1,
                **({"cut": True} if seen.cut or len(seen.argv) > SHOWN_WORDS else {}),
                **({"unreadable": True} if seen.unreadable else {}),
            }
