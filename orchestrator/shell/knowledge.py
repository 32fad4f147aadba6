"""The shape of program knowledge: what a program's options and operands mean, and what is risky.

The tables lie in ``programs/*.yaml``, one file a family; ``orchestrator.shell.programs`` loads
them. Adding a program is adding a table entry with examples, never code.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from orchestrator.schema.decision import Risk


def _words(value: object) -> object:
    return tuple(value.split()) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
"""A list, or one string with blanks between the items."""

ROLES = {
    "data": "plain text",
    "url": "an address that is connected to",
    "read": "a file whose content is shown",
    "copy": "a file that is read but not shown",
    "write": "a file that is written",
    "assigned": "awk's NAME=VALUE, which its code may name a file by",
    "edited": "a file that is read, changed and written back",
    "replaced": "a file whose old content is lost",
    "delete": "a path that is removed",
    "moved": "a path that goes away",
    "target": "where moved paths go",
    "victim": "a process to signal",
    "save": "a file that receives a download",
    "remote": "an address that is fetched into a file named after it",
    "fetch": "a directory that receives a download",
    "source": "the address of a repository that is fetched into a directory",
    "upload": "a file that is sent away",
    "at": "curl's @FILE, which is sent away",
    "form": "curl's NAME=@FILE, which is sent away",
    "encoded": "curl's NAME@FILE, which is sent away",
    "dir": "the directory to work in",
    "run": "a program or shell text that this option makes a harmless tool run",
    "interpreter": "a program that is given the work's own text, where a plain shell is harmless",
    "shell": "shell text, judged by what it does",
    "here": "shell text for the calling shell",
    "trap": "shell text for the calling shell, run now or at its end",
    "split": "words that the rest of the arguments follow",
    "script": "a file of code to run",
    "module": "a Python module to run",
    "sink": "a file that receives standard input",
    "project": "a settings file, which is the work's own when it lies in the workspace",
    "config": "a file, or settings, that can name programs",
    "loads": "a plugin or library",
    "package": "a package.json, whose script of the name that is run is shell text",
    "entry": "KEY=VALUE for package.json, where scripts.NAME is shell text",
    "makefile": "a makefile",
    "makecode": "text of a makefile",
    "checkpoint": "tar's ACTION, which may be exec=COMMAND",
}
"""Every role without an argument; those of ``_WITH_ARGUMENT`` come on top."""
_WITH_ARGUMENT = ("code:", "script:", "setting:", "pair:")
"""``code:LANGUAGE`` is code itself, ``script:LANGUAGE`` a file of it or ``-``."""


def _role(value: str) -> str:
    if value and value not in ROLES and not value.startswith(_WITH_ARGUMENT):
        raise ValueError(f"unknown role {value!r}")
    return value


Role = Annotated[str, AfterValidator(_role)]
"""What an option's value or an operand is: a key of ``ROLES``, or empty."""


class Strict(BaseModel):
    """Tables are closed: an unknown key is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(Strict):
    """One risky use; all conditions that are given must hold."""

    risk: Risk
    reason: str
    hint: str = ""
    severity: Literal["ask", "high"] = "ask"
    any: Words = ()
    """At least one of these options is given."""
    all: Words = ()
    none: Words = ()
    """None of these options is given."""
    words: str = ""
    """A pattern found in the sub-commands that follow and the operands, joined by blanks."""
    operand: str = ""
    """A pattern found in at least one operand."""
    line: str = ""
    """A pattern found in all arguments, joined by blanks."""
    operands: int = 0
    """At least so many operands."""
    at_most: int | None = None
    """At most so many operands."""
    value: dict[str, str] = Field(default_factory=dict)
    """Option to pattern: the option is given with a value in which the pattern is found."""
    spares_fresh: bool = False
    """It does not hold where every operand is a path that mktemp made for this very command."""
    piped: bool | None = None
    """Whether something is piped or redirected into it."""
    outside: bool = False
    """It works in a directory that is known not to lie in the workspace."""
    runs: str = ""
    """A pattern found in the first word of the command that it wraps."""


class Wrap(Strict):
    """How the tail of the arguments is a command of its own."""

    how: Literal["argv", "shell", "here"] = "argv"
    """Run as it stands, joined and read by a shell of its own, or joined and read by this one."""
    skip: int = 0
    """Operands before the command."""
    assignments: bool = False
    """``NAME=value`` operands before the command set its environment."""
    after: str = ""
    """The command begins after this word, not at the first operand."""
    anywhere: bool = False
    """With ``after``: the operands before it are this program's own."""
    remote: bool = False
    """It runs on another machine: anything but looking is a change out there."""
    named: bool = False
    """A name may stand before a ``{``: coproc."""
    quoted: bool = False
    """What is filled in at run time is quoted for the shell."""
    fed: bool = False
    """Others write into what it runs: coproc."""
    functions: bool = False
    """The shell's functions and aliases apply to it."""
    appends: bool = False
    """More arguments follow that are read from standard input."""
    prefix: str = ""
    """Its commands are its own, listed under this text and their name: cmake's ``-E copy``."""
    placeholder: Words = ()
    """Options whose value names a text in the command that is replaced at run time."""
    replaces: str = ""
    """A text that is always replaced, such as ``{}``."""
    unless: Words = ()
    """Options that make it not run anything."""
    until: Words = ()
    """Words that end the command: parallel's ``:::``."""
    sought: bool = False
    """Its options take too many forms to list: the command begins at the first known program."""


class Examples(Strict):
    """Command lines the tests hold the entry to."""

    match: tuple[str, ...] = ()
    no_match: tuple[str, ...] = ()


class Spec(Strict):
    """A program, or a sub-command of one."""

    also: Words = ()
    """Other names of the same program."""
    style: Literal["gnu", "single", "pairs", "bundle"] = "gnu"
    """``single``: ``-name`` is one option. ``pairs``: ``name=value`` operands. ``bundle``: the
    first argument may be an option cluster without a dash."""
    values: Words = ()
    """Options that take a value, glued or as the next word."""
    glued: Words = ()
    """Options whose value, if any, is glued."""
    digits: Words = ()
    """Options whose value, if any, is a glued number, after which the cluster goes on: perl's -l."""
    roles: dict[str, Role] = Field(default_factory=dict)
    """Option to the role of its value; such options take a value unless they are in ``glued``."""
    operands: Role = ""
    first: Role = ""
    """Role of the first operand, where it differs."""
    last: Role = ""
    """Role of the last operand of several, where it differs."""
    given: dict[str, Role] = Field(default_factory=dict)
    """When this option is given, operands have this role instead."""
    reads: dict[str, Role] = Field(default_factory=dict)
    """Files that it looks for by itself, to role; judged where this very command wrote them.

    A path from the directory it works in, or ``**/NAME`` with ``*`` in it for any folder below.
    """
    instead: Words = ()
    """Options that take the place of ``first``: grep's -e, awk's -f."""
    until: dict[str, Words] = Field(default_factory=dict)
    """Option to the words that end the command that follows it: find's -exec."""
    appends: bool = False
    """What ``until`` runs gets arguments that are found at run time, unless it names them."""
    wraps: Wrap | None = None
    stdin: str = ""
    """It reads code in this language from standard input when no script is given."""
    script: bool = False
    """The first operand is a file of code to run, ``-`` standard input."""
    subs: dict[str, Spec] = Field(default_factory=dict)
    """Sub-commands; ``a|b`` names several."""
    dynamic_sub: bool = True
    """A sub-command that is not static is opaque."""
    stop: bool = False
    """Options end at the first operand."""
    stop_after: Words = ()
    """Options after which all words are the inner program's own: python's -c and -m."""
    help: Words = ("--help", "--version")
    """Options that make it print and do nothing else."""
    readonly: bool = False
    """Only looks, whatever its arguments; ``readonly`` of the outer program holds for subs."""
    sends: bool = False
    """Its arguments leave the box."""
    downloads: bool = False
    """What it prints comes from elsewhere."""
    saves: bool = False
    """It writes what it fetches into a file named after the address."""
    links: bool = False
    """It makes its last operand another name of the one before."""
    copies: bool = False
    """It copies its first operand to its second."""
    transfers: bool = False
    """It copies between machines; ``host:path`` is elsewhere."""
    unpacks: bool = False
    """It unpacks archives."""
    unpacks_with: Words = ()
    """Options without which it does not unpack; it always does where there are none."""
    into: Words = ()
    """Options that name the directory it unpacks into; without any it is the last of several
    operands."""
    prepares: str = ""
    """A pattern found in its sub-commands and operands when it prints its own set-up for a shell:
    to run that is to trust what already runs."""
    decodes: bool = False
    """What it prints is unlike what it reads."""
    dumps: bool = False
    """It prints whole files."""
    shell: bool = False
    """It is a shell."""
    deletes_with: Words = ()
    """Options that make a ``delete`` operand a tree."""
    deletes_trees: bool = False
    """A ``delete`` operand is always a tree."""
    risk: Risk | None = None
    """The use itself is risky, whatever the arguments."""
    reason: str = ""
    severity: Literal["ask", "high"] = "ask"
    hint: str = ""
    rules: tuple[Rule, ...] = ()
    examples: Examples = Examples()

    @cached_property
    def takes_value(self) -> frozenset[str]:
        """Options whose value may be the next word."""
        return frozenset({*self.values, *self.roles, *self._placeholders()} - {*self.glued})

    @cached_property
    def known(self) -> tuple[str, ...]:
        """Every option this entry speaks of, shortest first."""
        named = {
            *self.values,
            *self.glued,
            *self.digits,
            *self.roles,
            *self.given,
            *self.until,
            *self.help,
        }
        named.update(self.deletes_with, self._placeholders(), self.instead)
        named.update(self.unpacks_with, self.into)
        for rule in self.rules:
            named.update(rule.any, rule.all, rule.none, rule.value)
        if self.wraps is not None:
            named.update(self.wraps.unless)
        return tuple(sorted(named, key=lambda name: (len(name), name)))

    @cached_property
    def risky(self) -> tuple[str, ...]:
        """Long options that matter and may be abbreviated, shortest first."""
        named = {name for name, role in self.roles.items() if role != "data"}
        named.update(self.until, self.deletes_with)
        for rule in self.rules:
            named.update(rule.any, rule.all, rule.value)
        return tuple(sorted((n for n in named if n.startswith("--")), key=lambda n: (len(n), n)))

    @cached_property
    def sub_specs(self) -> dict[str, Spec]:
        """Sub-commands by single name."""
        return {name: spec for names, spec in self.subs.items() for name in names.split("|")}

    def _placeholders(self) -> Words:
        return self.wraps.placeholder if self.wraps is not None else ()
