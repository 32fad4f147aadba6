"""One layer: a merged document with its rules indexed and its globs compiled, ready to vote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from orchestrator.policy.document import Default, FileAccess, PolicyDocument, RiskVote
from orchestrator.policy.globs import GlobSet, compile_globs, folders_above, name_glob
from orchestrator.policy.match import CompiledRule
from orchestrator.policy.rules import CommandRule, FileRule
from orchestrator.policy.signature import LayerSource
from orchestrator.policy.yaml_nodes import Node, Place, find, place_of
from orchestrator.schema.decision import Effect, Risk

LayerName = Literal["org", "team", "user", "project", "session"]

LAYER_ORDER: tuple[LayerName, ...] = ("org", "team", "user", "project", "session")
"""Highest first."""


@dataclass(frozen=True, slots=True)
class BoxPaths:
    """Directories that mean something inside every box."""

    workspace: str = "/workspace"
    home: str = "/home/agent"
    scratch: str = "/tmp"  # noqa: S108 - the box's own tmpfs, not the host's


@dataclass(frozen=True, slots=True)
class FileVotes:
    """A layer's votes on reading, or on writing."""

    default: Default | None
    rules: tuple[tuple[FileRule, GlobSet], ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """A document and what is needed to ask it fast."""

    name: LayerName
    document: PolicyDocument
    tree: Node
    by_program: Mapping[str, tuple[CompiledRule, ...]]
    """Command rules by each program they name."""
    any_program: tuple[CompiledRule, ...]
    """Command rules that name none."""
    reads: FileVotes
    writes: FileVotes
    protected: GlobSet
    above_protected: GlobSet
    """Folders that protected paths lie in, as far as the globs name them."""
    hidden: GlobSet
    source: LayerSource | None = None
    """For a layer that is held to its exact bytes: org, team, project."""

    def command_default(self) -> Default | None:
        """Return the vote where no command rule matches."""
        return self.document.commands.default if self.document.commands else None

    def rules_for(self, program: str | None) -> Iterator[CompiledRule]:
        """Yield the rules that may match a program; every rule where it is not known."""
        if program is None:
            seen: dict[str, CompiledRule] = {}
            for rules in self.by_program.values():
                seen.update((item.rule.id, item) for item in rules)
            yield from seen.values()
        else:
            yield from self.by_program.get(program, ())
        yield from self.any_program

    def risk_vote(self, risk: Risk) -> RiskVote | None:
        """Return the vote on a risk class."""
        commands = self.document.commands
        return getattr(commands.risks, risk, None) if commands and commands.risks else None

    def tool_votes(self, tool: str) -> list[tuple[str, Effect]]:
        """Return the votes on a tool with the key each comes from; the default only alone."""
        tools = self.document.tools or {}
        named = [
            (key, vote)
            for key, vote in tools.items()
            if key != "default" and vote != "delegate" and name_glob(key).match(tool)
        ]
        if named:
            return named
        default = tools.get("default", "delegate")
        return [] if default == "delegate" else [("default", default)]

    def place_of(self, *loc: str) -> Place:
        """Return the line of a key, or of the nearest key above it."""
        return place_of(self.tree, loc)

    def place_of_rule(self, rule: str, *, reason: str = "") -> Place | None:
        """Return the line of what a decision's ``rule`` names, wherever it stands.

        ``reason`` tells which of several protected or hidden globs it was.
        """
        kind, _, name = rule.partition(":")
        if kind in {"protected", "hidden"}:
            listed = _items(self.tree, ("workspace", kind))
            return next((item.place for item in listed if f"({item.value})" in reason), None)
        if name or rule == "default":
            return self.place_of(*_KEYS[rule] if rule in _KEYS else (*_KEYS[kind], name))
        for loc in _RULE_LISTS:
            for item in _items(self.tree, loc):
                named = find(item, ("id",))
                if named is not None and named.value == rule:
                    return item.place
        return None


def _items(tree: Node, loc: tuple[str, ...]) -> tuple[Node, ...]:
    listed = find(tree, loc)
    return listed.value if listed and isinstance(listed.value, tuple) else ()


_KEYS: dict[str, tuple[str, ...]] = {
    "default": ("commands", "default"),
    "default:read": ("files", "read", "default"),
    "default:write": ("files", "write", "default"),
    "default:network": ("network", "default"),
    "packages": ("network", "packages"),
    "risk": ("commands", "risks"),
    "tool": ("tools",),
}
_RULE_LISTS = (
    ("commands", "rules"),
    ("files", "read", "rules"),
    ("files", "write", "rules"),
    ("network", "rules"),
)


def compile_layer(name: LayerName, document: PolicyDocument, tree: Node, *, box: BoxPaths) -> Layer:
    """Return the layer of a document."""
    rules = (document.commands.rules if document.commands else None) or ()
    by_program: dict[str, list[CompiledRule]] = {}
    any_program: list[CompiledRule] = []
    for rule in rules:
        compiled = _compile_rule(rule, box)
        for program in {word.rpartition("/")[2] for word in rule.program}:
            by_program.setdefault(program, []).append(compiled)
        if not rule.program:
            any_program.append(compiled)
    files, workspace = document.files, document.workspace
    protected = (workspace.protected if workspace else None) or ()
    return Layer(
        name=name,
        document=document,
        tree=tree,
        by_program={program: tuple(items) for program, items in by_program.items()},
        any_program=tuple(any_program),
        reads=_compile_files(files.read if files else None, box),
        writes=_compile_files(files.write if files else None, box),
        protected=_globs(protected, box, fold=True),
        above_protected=_globs(folders_above(protected), box, fold=True),
        hidden=_globs((workspace.hidden if workspace else None) or (), box, fold=True),
    )


def _compile_rule(rule: CommandRule, box: BoxPaths) -> CompiledRule:
    fold = rule.effect != "allow"
    return CompiledRule(
        rule,
        writes=_globs(rule.writes, box, fold=fold) if rule.writes else None,
        cwd=_globs(rule.cwd, box, fold=fold) if rule.cwd else None,
    )


def _compile_files(access: FileAccess | None, box: BoxPaths) -> FileVotes:
    rules = (access.rules if access else None) or ()
    compiled = tuple((rule, _globs(rule.paths, box, fold=rule.effect != "allow")) for rule in rules)
    return FileVotes(access.default if access else None, compiled)


def _globs(patterns: Iterable[str], box: BoxPaths, *, fold: bool) -> GlobSet:
    return compile_globs(patterns, fold=fold, workspace=box.workspace, home=box.home)
