"""The rules of a policy file on commands and paths: what they match, and the effect they vote for.

Those on what leaves the box stand in ``network_rules``.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from orchestrator.policy.globs import check_glob
from orchestrator.schema.decision import Effect, Risk

RESERVED_IDS = frozenset(
    {
        "default",
        "unmatched",
        "protected",
        "hidden",
        "outside",
        "unresolved",
        "gate-error",
        "bad-host",
        "odd-address",
        "bad-path",
        "bad-request",
        "special-name",
        "unnamed-address",
        "private-address",
    }
)
"""Words that a decision uses for itself in the place of a rule's id."""


class Section(BaseModel):
    """Part of a policy file: unknown keys are errors, nothing is converted, nothing changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _one_or_many(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _no_reserved(rule_id: str) -> str:
    if rule_id in RESERVED_IDS:
        raise ValueError(f"the id {rule_id!r} is taken by the gate itself; choose another")
    return rule_id


RuleId = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$"),
    BeforeValidator(lambda value: _no_reserved(value) if isinstance(value, str) else value),
]
Text = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Words = Annotated[
    tuple[Word, ...],
    BeforeValidator(
        _one_or_many, json_schema_input_type=Annotated[str, Field(min_length=1)] | tuple[Word, ...]
    ),
    Field(min_length=1),
]
"""One word, or a list of alternatives."""


def _checked_glob(value: Any) -> Any:
    if isinstance(value, str):
        check_glob(value)
    return value


PathGlob = Annotated[Word, BeforeValidator(_checked_glob)]


class Flags(Section):
    """Options a command is called with; ``-f`` also means ``-xf``, ``--force`` also ``--force=x``."""

    any: Words = ()
    """At least one of these is given."""
    all: Words = ()
    """Each of these is given."""
    none: Words = ()
    """None of these is given."""

    @model_validator(mode="after")
    def _some(self) -> Flags:
        if not (self.any or self.all or self.none):
            raise ValueError("flags needs at least one of any, all and none")
        return self


class Examples(Section):
    """Commands that show what a rule means; checked each time the policy loads."""

    match: tuple[Text, ...] = ()
    """The rule matches each of these."""
    no_match: tuple[Text, ...] = ()
    """The rule matches none of these."""


class CommandRule(Section):
    """A vote on each simple command in a command line for which all given criteria hold."""

    id: RuleId
    """Names the rule in decisions; a later rule with the same id replaces an earlier one."""
    program: Words = ()
    """Name of the program, or a list of names; a name with a slash is compared with the whole path."""
    args: tuple[Words, ...] = Field(default=(), max_length=16)
    """First arguments after leading options, each a word, a list of alternatives, or globs with
    ``*`` and ``?``."""
    flags: Flags | None = None
    """Options that must, or must not, be given."""
    env: Words = ()
    """Names (or globs) of variables that are set for it."""
    writes: Annotated[tuple[PathGlob, ...], BeforeValidator(_one_or_many)] = ()
    """Path globs of which it is seen to write one."""
    pipes_into: Words = ()
    """Programs to one of which its output is piped."""
    cwd: Annotated[tuple[PathGlob, ...], BeforeValidator(_one_or_many)] = ()
    """Path globs of the directories it runs in."""
    risks: Annotated[tuple[Risk, ...], BeforeValidator(_one_or_many)] = ()
    """Answer these risk classes for the commands matched, in place of ``commands.risks``."""
    effect: Effect
    """``allow``, ``ask`` (each time anew) or ``deny``."""
    reason: Text = ""
    """Why; shown to the person asked and to the model."""
    hint: Text = ""
    """What the model can do instead."""
    examples: Examples | None = None
    """Commands the rule must and must not match."""

    @model_validator(mode="after")
    def _criteria(self) -> CommandRule:
        criteria = (self.program, self.args, self.flags, self.env, self.writes, self.cwd)
        if not any((*criteria, self.pipes_into, self.risks)):
            raise ValueError(
                "a rule needs at least one of program, args, flags, env, writes, pipes_into, cwd "
                "and risks; for everything else use commands.default"
            )
        if (self.args or self.flags) and not self.program:
            raise ValueError("args and flags need a program; options mean different things")
        return self


class FileRule(Section):
    """A vote on each path matched, as it is asked for and where it lands."""

    id: RuleId
    """Names the rule in decisions; a later rule with the same id replaces an earlier one."""
    paths: Annotated[
        tuple[PathGlob, ...], BeforeValidator(_one_or_many), Field(min_length=1, max_length=500)
    ]
    """Globs: relative to the workspace, absolute in the box, or below its home with ``~/``."""
    effect: Effect
    """``allow``, ``ask`` (each time anew) or ``deny``."""
    reason: Text = ""
    """Why; shown to the person asked and to the model."""
    hint: Text = ""
    """What the model can do instead."""
