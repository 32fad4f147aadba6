"""Files and texts into one tree; most of ``extends`` is tested through ``load``."""

import pytest

from orchestrator.errors import PolicyError
from orchestrator.policy.gather import (
    decoded,
    gather_files,
    gather_text,
    is_shipped_name,
    read_policy_text,
    rules_in,
)


@pytest.fixture
def shipped(tmp_path):
    (tmp_path / "base.yaml").write_text("version: 1\nname: base\nlimits: {steps: 3, tokens: 4}\n")
    return tmp_path


def test_text_stands_on_top_of_what_it_extends(shipped):
    """Its own tree is given apart, so that only its author's words are held against them."""
    text = "version: 1\nname: x\nextends: [base]\nlimits: {steps: 2}\n"
    own, _, document = gather_text(text, file="x.yaml", search=shipped)

    assert (document.name, document.limits.steps, document.limits.tokens) == ("x", 2, 4)
    assert set(own.value) == {"version", "name", "extends", "limits"}
    assert set(own.value["limits"].value) == {"steps"}


def test_text_extends_no_other_files(shipped):
    """They are not under its digest."""
    with pytest.raises(PolicyError, match=r"x.yaml:3: extends '\./base.yaml': expected the name"):
        gather_text("version: 1\nname: x\nextends: [./base.yaml]", file="x.yaml", search=shipped)


def test_bytes_that_are_no_text_are_told_with_their_line():
    """UTF-8, with or without its mark."""
    assert decoded(b"\xef\xbb\xbfa", file="f") == "a"
    with pytest.raises(PolicyError, match="f:2: expected UTF-8 text"):
        decoded(b"a\n\xff", file="f")


def test_names_of_shipped_policies_are_no_paths():
    """A slash or a dot makes a path."""
    assert is_shipped_name("untrusted-repo")
    assert not any(map(is_shipped_name, ("a/b", "a.yaml", "./a", "", "-a")))


def test_rules_of_all_sections_are_found(shipped):
    """Whatever they are about."""
    text = (
        "version: 1\nname: x\n"
        "commands: {rules: [{id: a, program: x, effect: ask}]}\n"
        "files: {read: {rules: [{id: b, paths: x, effect: ask}]}}\n"
    )
    own, _, _ = gather_text(text, file="x.yaml", search=shipped)

    assert [rule.value["id"].value for rule in rules_in(own)] == ["a", "b"]


def test_name_that_no_file_can_have_is_told_with_its_line(shipped):
    """YAML can spell a NUL where a shell cannot."""
    file = shipped / "x.yaml"
    file.write_text('version: 1\nname: x\nextends: ["./a\\0b.yaml"]\n')

    with pytest.raises(PolicyError, match=r"x\.yaml:3: extends .*: no file name holds a NUL"):
        gather_files([str(file)], search=shipped)


def test_text_is_read_up_to_its_limit(shipped):
    """One byte more tells that there is more."""
    assert read_policy_text(shipped / "base.yaml", limit=6) == "version"
