"""What is known of the shell's state at a point of the command: variables, functions, directory."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import Literal

from tree_sitter import Node

from orchestrator.shell.analysis import Word
from orchestrator.shell.output import Output
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.reading import OverLimitError
from orchestrator.shell.source import Source

OLD_PATH = DYNAMIC * 2
"""What ``PATH`` held before; told apart from other values that are not static."""

MAX_EXPANDED = 1_000_000
"""Characters that all values of one reading come to; what doubles itself soon gets there."""

_MAX_LINKS = 8
"""Links on a path that are followed; the kernel gives up at 40."""

_WORD = 20
"""Characters that the work of handling one word counts for."""

Value = str | tuple[str, ...]
"""A variable's text, or an array's; U+FFFC stands for what is not static."""


@dataclass(slots=True)
class Budget:
    """How much has been expanded; shared by all scopes of a reading."""

    spent: int = 0

    def spend(self, value: Value, *, words: int = 0) -> None:
        """Count a value and the words it becomes; raise when it is more than anyone would read."""
        texts = (value,) if isinstance(value, str) else value
        self.spent += sum(map(len, texts)) + _WORD * (words + len(texts))
        if self.spent > MAX_EXPANDED:
            raise OverLimitError(f"values of more than {MAX_EXPANDED} characters")


@dataclass(frozen=True, slots=True)
class Content:
    """What this very command put into a file."""

    kind: Literal["download", "text", "decoded"]
    text: str | None = None
    """The whole content of a ``text`` file; None when parts of it are not static."""


@dataclass(frozen=True, slots=True)
class Places:
    """The fixed directories a command is read against."""

    home: str
    workspace: str


@dataclass(slots=True)
class Scope:
    """The state one shell process has; a subshell works on a ``fork``."""

    places: Places
    cwd: str | None
    variables: dict[str, Value] = field(default_factory=dict)
    positional: tuple[str, ...] | None = None
    """``$0 $1 …`` where they are known."""
    functions: dict[str, tuple[Source, Node]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    files: dict[str, Content] = field(default_factory=dict)
    """By absolute path; shared with subshells, as the disk is."""
    fetched: set[str] = field(default_factory=set)
    """Directories that hold what this command fetched; shared, as the disk is."""
    origins: dict[str, Output] = field(default_factory=dict)
    """What is known of a substitution's output that a variable holds."""
    budget: Budget = field(default_factory=Budget)
    optimistic: bool = False
    """Every branch is taken to have run; see ``analyse``."""
    doubts: list[str] = field(default_factory=list)
    """Variables whose value a branch leaves in doubt; shared by all scopes of a reading."""
    stdin: Output | None = None
    """What ``exec <`` put at the standard input of all that follows."""
    fresh: dict[str, bool] = field(default_factory=dict)
    """Paths that ``mktemp`` made for this very command, and whether nothing was moved into them
    since; shared, as the disk is."""
    links: dict[str, str] = field(default_factory=dict)
    """Where the links lead that this very command made; shared, as the disk is."""
    stand_ins: dict[str, str] = field(default_factory=dict)
    """Known programs by the paths they were copied or linked to; shared, as the disk is."""

    def fork(self) -> Scope:
        """Return a copy whose changes stay its own, files apart."""
        return Scope(
            places=self.places,
            cwd=self.cwd,
            variables=dict(self.variables),
            positional=self.positional,
            functions=dict(self.functions),
            aliases=dict(self.aliases),
            files=self.files,
            fetched=self.fetched,
            origins=dict(self.origins),
            stdin=self.stdin,
            fresh=self.fresh,
            links=self.links,
            stand_ins=self.stand_ins,
            budget=self.budget,
            optimistic=self.optimistic,
            doubts=self.doubts,
        )

    def lookup(self, name: str) -> Value:
        """Return a variable's value; what this command did not set is not static."""
        if name in self.variables:
            return self.variables[name]
        if name == "HOME":
            return self.places.home
        if name == "PWD":
            return self.cwd or DYNAMIC
        if name == "IFS":
            return " \t\n"
        return OLD_PATH if name == "PATH" else DYNAMIC

    def assign(self, name: str, value: Value) -> None:
        """Set a variable."""
        self.budget.spend(value)
        self.variables[name] = value
        self.origins.pop(name, None)

    def merge(self, other: Scope) -> None:
        """Forget what differs after a part that may or may not have run; ``other`` is before it."""
        changed = [
            name
            for name, value in self.variables.items()
            if other.variables.get(name, None) != value
        ]
        self.doubts += changed
        if self.optimistic:
            return
        for name in changed:
            self.variables[name] = DYNAMIC
        for name in other.variables.keys() - self.variables.keys():
            self.variables[name] = DYNAMIC
        self.cwd = self._common_directory(other.cwd)

    def _common_directory(self, before: str | None) -> str | None:
        """Return the outer of two directories when both lie in the workspace."""
        if before == self.cwd:
            return before
        if before is None or self.cwd is None:
            return None
        if self.inside(before) and self.inside(self.cwd):
            return min(before, self.cwd, key=lambda path: path.count("/"))
        return None

    def change_directory(self, word: Word) -> None:
        """Work in another directory, unknown when the word is not static."""
        self.cwd = None if word.value is None or word.glob else self.absolute(word.value)

    def is_fresh(self, path: str | None) -> bool:
        """Say whether losing a path, all of it, loses nothing but what this very command made."""
        return path is not None and self.fresh.get(path, False)

    def fetched_into(self, path: str) -> bool:
        """Say whether a path lies in a directory that this command fetched."""
        return any(path == place or path.startswith(place + "/") for place in self.fetched)

    def inside(self, path: str) -> bool:
        """Say whether an absolute path is the workspace or lies in it."""
        workspace = self.places.workspace
        return path == workspace or path.startswith(workspace.rstrip("/") + "/")

    def absolute(self, path: str, *, follow: bool = True) -> str | None:
        """Return ``path`` from the root with ``.`` and ``..`` taken out; None where unknown.

        With ``follow``, links that this very command made are followed.
        """
        if path.startswith("~"):
            path = expand_tilde(path, self)
        if not path.startswith("/"):
            if self.cwd is None or path.startswith(DYNAMIC):
                return None
            path = self.cwd.rstrip("/") + "/" + path
        found = "/" + posixpath.normpath(path).lstrip("/")
        return self._followed(found) if follow and self.links else found

    def _followed(self, path: str) -> str:
        for _ in range(_MAX_LINKS):
            met = [p for p in self.links if path == p or path.startswith(p + "/")]
            if not met:
                break
            link = max(met, key=len)
            path = posixpath.normpath(self.links[link] + path[len(link) :])
        return path


def expand_tilde(text: str, scope: Scope) -> str:
    """Replace a leading ``~``, ``~user`` or ``~+``; the tilde must be unquoted."""
    head, slash, rest = text.partition("/")
    user = head[1:]
    if not user:
        home = scope.lookup("HOME")
        base = home if isinstance(home, str) else DYNAMIC
    elif user == "+":
        base = scope.cwd or DYNAMIC
    elif user == "-":
        base = DYNAMIC
    elif not re.fullmatch(r"[a-z_][a-z0-9_.-]*", user):
        return text
    else:
        base = "/root" if user == "root" else f"/home/{user}"
    return base + slash + rest
