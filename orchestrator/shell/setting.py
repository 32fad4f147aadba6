"""The circumstances a simple command runs in, handed down while the tree is walked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from orchestrator.shell.analysis import Redirect, Span, Word
from orchestrator.shell.output import NOTHING, Output
from orchestrator.shell.reading import Reading
from orchestrator.shell.scope import Scope
from orchestrator.shell.source import Anchor

Environment = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """What surrounds a command: where its text and input come from, and who reads its output."""

    origin: str = ""
    wrappers: tuple[str, ...] = ()
    environment: Environment = ()
    redirects: tuple[Redirect, ...] = ()
    feed: Output = NOTHING
    """What stands at its standard input."""
    pipes_into: str | None = None
    piped_from: str | None = None
    depth: int = 0
    """Levels of code inside code."""
    remote: bool = False
    """It runs on another machine or in another container: paths are not the box's."""
    calls: tuple[str, ...] = ()
    """Functions being read, innermost last."""
    rounds: int = 1
    """How often this text is read, by loops around it."""
    no_lookup: bool = False
    """Functions and aliases do not apply: ``command``, ``env``, ``sudo`` and other programs."""
    span: Span = (0, 0)
    """The whole command, with its assignments and wrappers."""


@dataclass(frozen=True, slots=True)
class Code:
    """Program text found inside a command, U+FFFC where it is not static."""

    text: str
    anchor: Anchor


@dataclass(frozen=True, slots=True)
class Site:
    """Where a command stands: its circumstances, its shell's state, and what reads on."""

    setting: Setting
    scope: Scope
    reading: Reading
    nested: Nested

    def inner(self, origin: str, *, feed: Output | None = None) -> Site:
        """Return the site of code that this command runs."""
        setting = replace(
            self.setting,
            origin=origin,
            environment=(),
            redirects=(),
            no_lookup=False,
            depth=self.setting.depth + 1,
            feed=self.setting.feed if feed is None else feed,
        )
        return replace(self, setting=setting)

    def forked(self) -> Site:
        """Return the site of a child process: what it changes stays its own."""
        return replace(self, scope=self.scope.fork())

    def fed(self, feed: Output) -> Site:
        """Return the site with another standard input."""
        return replace(self, setting=replace(self.setting, feed=feed))


class Nested(Protocol):
    """Reads what a command runs in turn; the walker is the one real implementation."""

    def shell(self, code: Code, site: Site) -> Output:
        """Read shell text as if it stood in the command; return what it prints."""

    def function(self, name: str, argv: list[Word], site: Site) -> Output:
        """Read a function's body with these arguments."""

    def command(self, argv: list[Word], site: Site) -> Output:
        """Read one argument list as a command."""
