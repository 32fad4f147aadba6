"""The tables: each entry keeps the promise of its own examples."""

import re

import pytest

from orchestrator.errors import GloveboxError
from orchestrator.shell.analyse import analyse
from orchestrator.shell.knowledge import Spec
from orchestrator.shell.languages.read import known_languages
from orchestrator.shell.programs import find_program, load_programs, read_table
from orchestrator.shell.settings import setting_tables

PROGRAMS = load_programs()
ENTRIES = {id(spec): (name, spec) for name, spec in reversed(PROGRAMS.items())}.values()


def specs_in(spec):
    """Yield an entry and its sub-commands."""
    yield spec
    for sub in spec.subs.values():
        yield from specs_in(sub)


@pytest.mark.parametrize(("name", "spec"), ENTRIES, ids=[name for name, _ in ENTRIES])
def test_examples_of_entry_hold(name, spec):
    """What an entry calls risky is found, what it calls harmless is not."""
    missed = [line for line in spec.examples.match if not analyse(line).findings]
    asked = [line for line in spec.examples.no_match if analyse(line).findings]
    assert (missed, asked) == ([], []), name


def test_every_risky_entry_has_an_example():
    """A rule without an example is a rule nobody checks."""
    bare = [
        name
        for name, spec in ENTRIES
        if any(part.risk or part.rules for part in specs_in(spec)) and not spec.examples.match
    ]
    assert bare == []


def test_every_pattern_compiles():
    """A broken pattern would only be noticed in use."""
    for _, spec in ENTRIES:
        for part in specs_in(spec):
            for rule in part.rules:
                for text in (rule.words, rule.operand, rule.line, *rule.value.values()):
                    re.compile(text)


def test_every_language_and_table_named_in_a_role_exists():
    """``code:X``, ``script:X`` and ``setting:X`` name something."""
    known = {"code": known_languages() | {"shell"}, "setting": setting_tables().keys()}
    known["pair"], known["script"] = known["setting"], known["code"]
    for name, spec in ENTRIES:
        for part in specs_in(spec):
            roles = [*part.roles.values(), *part.given.values(), part.operands, part.first]
            for role in roles:
                kind, _, argument = role.partition(":")
                assert not argument or argument in known[kind], (name, role)
            assert not part.stdin or part.stdin in known["code"], name


def test_alias_and_version_find_the_same_entry():
    """``python3.11`` is python; an unknown name is nothing."""
    assert find_program("python3.11") is find_program("python")
    assert find_program("pip3") is find_program("pip")
    assert find_program("no-such-program") is None


def test_table_that_is_no_mapping_is_an_error(tmp_path):
    """A broken table stops everything; it is never skipped."""
    file = tmp_path / "x.yaml"
    file.write_text("- a\n")
    with pytest.raises(GloveboxError, match="expected a mapping, got list"):
        read_table(file)


def test_unknown_key_in_entry_is_an_error():
    """A misspelt key must not silently switch a rule off."""
    with pytest.raises(ValueError, match="rulez"):
        Spec.model_validate({"rulez": []})


def test_unknown_role_is_an_error():
    """A misspelt role must not silently do nothing."""
    with pytest.raises(ValueError, match="unknown role 'wirte'"):
        Spec.model_validate({"operands": "wirte"})
