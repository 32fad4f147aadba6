"""Where skills are looked for: the package, the user's folders, the project where a person vouches for it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.errors import SkillError
from orchestrator.harness.project_file import FOLDER, project_roots
from orchestrator.harness.skills.voting import skill_layers
from orchestrator.harness.trust import TrustStore
from orchestrator.skills.active import activate
from orchestrator.skills.discover import SHIPPED, Catalogue, Root, discover
from orchestrator.skills.folder import MAIN
from orchestrator.tools.registry import BUILTIN_NAMES

SKILLS = "skills"
OF_AGENTS = ".agents"
"""The folder that agents of several makers look into."""


def find_skills(directory: Path, paths: Paths, *, home: Path) -> Catalogue:
    """Return the skills that a session on a directory may use; blocks, and never raises.

    A skill whose votes would loosen policy, or do not load, is none.
    """
    roots = [
        Root(SHIPPED, "shipped"),
        Root(home / OF_AGENTS / SKILLS, "user"),
        Root(paths.config / SKILLS, "user"),
    ]
    trusted, notes = _projects(directory, TrustStore(paths))
    return checked(discover([*roots, *trusted], tools=BUILTIN_NAMES), *notes)


def checked(catalogue: Catalogue, *notes: str) -> Catalogue:
    """Return the catalogue without the skills that could not be switched on, and why."""
    faults, skills = dict(catalogue.faults), dict(catalogue.skills)
    for skill in catalogue.skills.values():
        try:
            skill_layers(activate(skill, tools=(), known=BUILTIN_NAMES))
        except SkillError as err:
            del skills[skill.name]
            faults[skill.source.removesuffix(f"/{MAIN}")] = tuple(err.message.split("\n"))
    return replace(
        catalogue,
        skills=skills,
        faults=faults,
        notes=(*catalogue.notes, *notes),
    )


def _projects(directory: Path, trust: TrustStore) -> tuple[list[Root], list[str]]:
    """Return the projects' folders, the nearest last, and what is told of those left out."""
    roots, notes = list[Root](), list[str]()
    for project in reversed(list(project_roots(directory))):
        folders = [project / OF_AGENTS / SKILLS, project / FOLDER / SKILLS]
        there = [folder for folder in folders if os.path.lexists(folder)]
        if not there:
            continue
        if trust.vouched(project):
            # What is above the folder may be a link too, and would lead out of the project.
            linked = [folder for folder in there if folder.parent.is_symlink()]
            notes += [f"{folder.parent}: left out: it is a symbolic link" for folder in linked]
            roots += [Root(folder, "project") for folder in there if folder not in linked]
        else:
            notes += [
                f"{folder}: left out: nobody vouches for {project} (glovebox trust --vouch {project})"
                for folder in there
            ]
    return roots, notes


def check_folder(folder: Path) -> Catalogue:
    """Return what a folder of skills, or of one, holds; blocks."""
    path = folder.absolute()
    root = path.parent if (path / MAIN).exists() else path
    found = checked(discover([Root(root, "user")], tools=BUILTIN_NAMES))
    if root == path:
        return found
    mine = f"{path}/"
    return Catalogue(
        {name: skill for name, skill in found.skills.items() if skill.source.startswith(mine)},
        {place: lines for place, lines in found.faults.items() if f"{place}/" == mine},
        tuple(line for line in found.remarks if line.startswith(mine)),
        tuple(line for line in found.notes if line.startswith(mine)),
    )
