"""What is noted of the packages that pass: a record of each, and a word to the person where one is wrong."""

from __future__ import annotations

from orchestrator.egress.packages.watch import PackageWatch
from orchestrator.egress.seams import Admission
from orchestrator.harness.egress.book import EgressBook
from orchestrator.harness.egress.parts import WayParts
from orchestrator.schema.artefact import Artefact, artefact_line, artefact_to_wire
from orchestrator.schema.terminal_text import escape_terminal


def package_watch(parts: WayParts, book: EgressBook) -> PackageWatch:
    """Return who looks at what package clients fetch in a session."""

    def tell(line: str) -> None:
        parts.note(escape_terminal(line))

    def fetched(admission: Admission, artefact: Artefact) -> None:
        book.note("artefact", {"egress": admission.id, **artefact_to_wire(artefact)})
        if artefact.matches is False:
            tell(f"packages: {artefact_line(artefact)}")

    return PackageWatch(parts.packages, fetched, tell)
