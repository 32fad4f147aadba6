"""What of a project's skills its policy keeps from the model: it enters the box by no other way either."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from orchestrator.harness.options import RunOptions
from orchestrator.harness.prompting import may_read
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.skills.discover import Catalogue, digest_files
from orchestrator.skills.folder import MAIN
from orchestrator.skills.skill import Skill


def without_hidden(
    catalogue: Catalogue, options: RunOptions, policy: EffectivePolicy
) -> tuple[Catalogue, tuple[str, ...]]:
    """Return the catalogue without a project's hidden files, and a line for each that is left out.

    A skill whose SKILL.md is hidden is none, nor is any of a project whose directory does not enter
    the box at all.
    """
    enters = (options.workspace or policy.workspace.mode) != "none"
    skills, faults, told = dict(catalogue.skills), dict(catalogue.faults), list[str]()
    for skill in catalogue.skills.values():
        if skill.scope != "project":
            continue
        kept, why = (
            _kept(skill, options.directory, lambda path: may_read(policy, path)),
            "policy hides it",
        )
        if not enters:
            kept, why = replace(skill, files=()), "the directory does not enter the box"
        gone = {file.path for file in skill.files} - {file.path for file in kept.files}
        if MAIN in gone:
            line = f"{skill.source}: left out: {why}"
            del skills[skill.name]
            faults[str(Path(skill.source).parent)] = (line,)
            told.append(line)
        elif gone:
            skills[skill.name] = kept
            folder = Path(skill.source).parent
            told += [f"{folder / path}: left out: {why}" for path in sorted(gone)]
    return replace(catalogue, skills=skills, faults=faults), tuple(told)


def _kept(skill: Skill, directory: Path, is_shown: Callable[[str], bool]) -> Skill:
    folder = os.path.relpath(Path(skill.source).parent, directory)
    files = tuple(file for file in skill.files if is_shown(f"{folder}/{file.path}"))
    return replace(skill, files=files, digest=digest_files(files))
