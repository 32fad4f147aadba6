"""What a trusted project puts into prompts: texts of layers, templates and their partials.

Read on the host without following a link. Nobody's silence is trust: where no person vouches for
the directory, its files are left out, and that is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.errors import PromptError
from orchestrator.harness.project_file import FOLDER, project_roots
from orchestrator.harness.trust import TrustStore
from orchestrator.prompts.beneath import names_beneath, read_in
from orchestrator.prompts.library import (
    PARTIALS,
    TEMPLATES_FOLDER,
    Library,
    Shelf,
    library_of,
    shipped_shelf,
    user_shelf,
)
from orchestrator.prompts.tree import MAX_BYTES, Texts, text_of, with_projects

PROMPTS = "prompts"


@dataclass(slots=True)
class ProjectTexts:
    """Reads a project's, from the directory up to its repository's root."""

    directory: Path
    trust: TrustStore
    notes: list[str] = field(default_factory=list)
    """Why something was left out, for the person."""

    def over(self, texts: Texts) -> Texts:
        """Return the texts with the project's in their place, the nearest before the farther."""
        for root in project_roots(self.directory):
            files, faults = self._files(root)
            self.notes += faults.values()
            texts = with_projects(texts, files, folder=_named(root))
        return texts

    def shelves(self) -> list[Shelf]:
        """Return the project's templates, the nearest last."""
        found = []
        for root in project_roots(self.directory):
            templates, faults = self._files(root, TEMPLATES_FOLDER)
            partials, torn = self._files(root, TEMPLATES_FOLDER, PARTIALS)
            if templates or faults:
                found.append(
                    Shelf(
                        "project",
                        _named(root, TEMPLATES_FOLDER),
                        _stems(templates),
                        _stems(partials),
                        _stems(faults),
                        tuple(torn.values()),
                    )
                )
        return found[::-1]

    def library(self, paths: Paths) -> Library:
        """Return the shipped templates, the project's and the user's, each before the former."""
        shelves = [shipped_shelf(), *self.shelves(), user_shelf(paths.config / PROMPTS)]
        return library_of(shelves, notes=self.notes)

    def _files(self, root: Path, *below: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return the texts in a folder of prompts by file name, and why others are left out.

        None of either where nobody vouches.
        """
        steps, place = (FOLDER, PROMPTS, *below), _named(root, *below)
        try:
            names = [name for name in names_beneath(root, steps) if name.endswith(".md")]
        except OSError as err:
            self.notes.append(f"{place}: left out: {err.strerror}")
            return {}, {}
        if names and not self.trust.vouched(root):
            self.notes.append(
                f"{place}: left out until you vouch for it: glovebox trust --vouch {root}"
            )
            return {}, {}
        files, faults = {}, {}
        for name in names:
            try:
                files[name] = text_of(
                    read_in(root, steps, name, limit=MAX_BYTES), f"{place}/{name}"
                )
            except OSError as err:
                faults[name] = f"{place}/{name}: left out: {err.strerror}"
            except PromptError as err:
                faults[name] = f"{err.message}; left out"
        return files, faults


def read_library(directory: Path, paths: Paths) -> Library:
    """Return all templates at hand in a directory; a faulty one costs itself."""
    project = ProjectTexts(directory, TrustStore(paths))
    return project.library(paths)


def _named(root: Path, *below: str) -> str:
    return "/".join([str(root), FOLDER, PROMPTS, *below])


def _stems(files: dict[str, str]) -> dict[str, str]:
    return {name.removesuffix(".md"): text for name, text in files.items()}
