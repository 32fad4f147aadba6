"""All skills that there are here: shipped, the user's, a trusted project's; later ones replace earlier."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator.errors import SkillError
from orchestrator.schema.ids import Digest, digest_of
from orchestrator.skills.folder import MAIN, FolderError, Found, find_folders
from orchestrator.skills.frontmatter import MAX_BYTES
from orchestrator.skills.manifest import parse_skill
from orchestrator.skills.skill import Scope, Skill, SkillFile

SHIPPED = Path(__file__).parent / "shipped"


@dataclass(frozen=True, slots=True)
class Root:
    """One folder of skills."""

    path: Path
    scope: Scope


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The skills by name, and what there is to say of the others."""

    skills: Mapping[str, Skill] = field(default_factory=dict)
    faults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Why skills cannot be used, ``file:line: what`` a mistake, by their folder or a whole root."""
    remarks: tuple[str, ...] = ()
    """``file:line: what`` of fields that were passed over, for a skill's author."""
    notes: tuple[str, ...] = ()
    """What takes another's place or was left out on purpose, for who begins a session."""

    @property
    def errors(self) -> tuple[str, ...]:
        """All mistakes of what was not loaded."""
        return tuple(line for lines in self.faults.values() for line in lines)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to say besides."""
        return (*self.remarks, *self.notes)

    def get(self, name: str) -> Skill:
        """Return a skill; SkillError with the nearest names where there is none."""
        if name in self.skills:
            return self.skills[name]
        close = difflib.get_close_matches(name, self.skills, n=1)
        meant = f", did you mean {close[0]}?" if close else ""
        broken = [line for line in self.errors if f"/{name}/{MAIN}" in line]
        if broken:
            raise SkillError(
                f"skill {name} cannot be used:\n" + "\n".join(broken), hint="mend it in that line"
            )
        raise SkillError(
            f"there is no skill {name!r}{meant}",
            hint="glovebox skills list shows those that there are",
        )

    @property
    def digest(self) -> Digest:
        """Of everything that the skills are."""
        return digest_of(
            json.dumps(sorted((s.name, s.digest) for s in self.skills.values())).encode()
        )


def discover(roots: Sequence[Root], *, tools: tuple[str, ...]) -> Catalogue:
    """Return what the roots hold, the later before the earlier where a name is the same; blocks.

    One that cannot be used hides the earlier of its name: its rules must not go without a word.
    """
    skills: dict[str, Skill] = {}
    faults: dict[str, tuple[str, ...]] = {}
    remarks, notes = list[str](), list[str]()
    for root in roots:
        try:
            found = list(find_folders(root.path, links=root.scope != "project"))
        except FolderError as err:
            faults[str(root.path)] = (f"{root.path}: {err}",)
            continue
        for folder in found:
            before = skills.pop(folder.path.name, None)
            try:
                skill, told = read_folder(folder, root, tools=tools)
            except SkillError as err:
                faults[str(folder.path)] = tuple(err.message.split("\n"))
                continue
            remarks += told
            if before is not None:
                notes.append(
                    f"{skill.source}: takes the place of the {before.scope} skill {before.source}"
                )
            skills[skill.name] = skill
    return Catalogue(dict(sorted(skills.items())), faults, tuple(remarks), tuple(notes))


def read_folder(
    folder: Found, root: Root, *, tools: tuple[str, ...]
) -> tuple[Skill, tuple[str, ...]]:
    """Return a folder's skill with what there is to say of it; SkillError with ``file:line``."""
    source = str(folder.path / MAIN)
    if root.scope == "shipped":
        # The same on every machine.
        source = f"shipped:{folder.path.relative_to(root.path)}/{MAIN}"
    if folder.problem:
        raise SkillError(f"{source}:1: {folder.problem}")
    main = next(file for file in folder.files if file.path == MAIN)
    if len(main.data) > MAX_BYTES:
        raise SkillError(f"{source}:1: expected at most {MAX_BYTES} bytes, got {len(main.data)}")
    try:
        text = main.data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        line = main.data.count(b"\n", 0, err.start) + 1
        raise SkillError(f"{source}:{line}: expected UTF-8 text") from err
    parsed = parse_skill(text, source=source, folder=folder.path.name, tools=tools)
    skill = replace(
        parsed.skill, scope=root.scope, files=folder.files, digest=digest_files(folder.files)
    )
    return skill, (*parsed.warnings, *_missing(skill))


def _missing(skill: Skill) -> list[str]:
    there = {file.path for file in skill.files}
    return [
        f"{skill.source}: references {path}, which is not there"
        for path in skill.references
        if path not in there
    ]


def digest_files(files: Sequence[SkillFile]) -> Digest:
    """Return the digest of a skill with these files."""
    rows = [(file.path, file.executable, digest_of(file.data)) for file in files]
    return digest_of(json.dumps(rows).encode())
