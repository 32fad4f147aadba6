"""A SKILL.md: what it may say, and each mistake with its line."""

import pytest

from orchestrator.errors import SkillError
from orchestrator.schema.shares import Shares
from orchestrator.skills.fields import split_words
from orchestrator.skills.frontmatter import split_frontmatter
from orchestrator.skills.manifest import parse_skill

from .conftest import TOOLS

WHOLE = """---
name: tidy
description: Tidies up. Use when asked to.
license: MIT
compatibility: needs git
metadata: {author: someone, version: "1.10"}
allowed-tools: Bash(git:*) Read Grep WebFetch
forbidden-tools: [process]
tags: [a, b]
references: [rules.md]
examples:
  - Tidy the shelf.
budget:
  max-tokens: 50000
  shares: {system: 0.1, output: 0.1}
triggers:
  words: [Tidy Up]
  patterns: ['^sweep .* floor$']
  globs: ["*.broom"]
output-format: |
  One line.
  Another.
policy:
  tools:
    write: deny
model: small
thinking: low
disable-model-invocation: true
argument-hint: "[x]"
---

Sweep.
"""


def test_every_field_is_taken():
    """Those of the open format and those of Glovebox's own; other agents' names of tools are known."""
    parsed = parse_skill(WHOLE, source="s/SKILL.md", folder="tidy", tools=TOOLS)
    skill = parsed.skill

    assert (skill.name, skill.license, skill.compatibility) == ("tidy", "MIT", "needs git")
    assert (skill.version, skill.author) == ("1.10", "someone")
    assert skill.allowed == ("bash", "read", "grep")
    assert skill.forbidden == ("process",)
    assert skill.shares == Shares(system=0.1, output=0.1)
    assert skill.max_tokens == 50_000
    assert skill.triggers.words == ("tidy up",)
    assert skill.triggers.patterns[0].search("sweep the floor")
    assert skill.output == "One line.\nAnother."
    assert (skill.model, skill.thinking, skill.by_name_only) == ("small", "low", True)
    assert skill.body == "Sweep."
    assert skill.policy.text.splitlines()[-4:] == [
        "  version: 1",
        "  name: skill-tidy",
        "  tools:",
        "    write: deny",
    ]
    # The part stands on the lines that it has in the file.
    assert skill.policy.text.splitlines()[skill.policy.line - 1] == "  tools:"
    assert WHOLE.splitlines()[skill.policy.line - 1] == "  tools:"
    assert [line.split(": ", 1)[0] for line in parsed.warnings] == [
        "s/SKILL.md:29",
        "s/SKILL.md:7",
        "s/SKILL.md:7",
    ]


@pytest.mark.parametrize(
    ("fields", "line", "says"),
    [
        (["budget: {max-tokens: 5}"], 4, "from 1000"),
        (["budget: {max-tokens: many}"], 4, "got many"),
        (["budget: {shares: {system: 0.9}}"], 4, "at most 1 together"),
        (["triggers:", "  patterns:", "    - fine", "    - '(a+)+b'"], 7, "a repeated group"),
        (["thinking: hard"], 4, "expected one of off"),
        (["allowed-tools: WebFetch"], 4, "none of these tools"),
        (["references: [../../etc/passwd]"], 4, "a file below the skill"),
        (["tags: {a: b}"], 4, "expected a list of texts, got fields"),
        (["license: [MIT]"], 4, "expected text, got a list"),
        (["policy: {tools: {bash: deny}}"], 4, "on the lines below"),
        (["policy:", "  network:", "    default: allow"], 4, "not network"),
        (["policy:", "  extends: [yolo]"], 4, "not extends"),
        (["policy:", "  files:", "    read_roots: [/]"], 4, "is no vote"),
        (["name: tidy"], 4, "given twice, first on line 2"),
        (["tags: &a [x]"], 4, "anchors"),
        (["tags: !!set {x}"], 4, "tags are not used"),
        (["license: a: b"], 4, "not YAML"),
        (["disable-model-invocation: maybe"], 4, "true or false"),
    ],
)
def test_mistake_has_its_line(head, fields, line, says):
    """And keeps the skill from being loaded."""
    with pytest.raises(SkillError) as error:
        head(*fields)

    assert error.value.message.startswith(f"s/SKILL.md:{line}: ")
    assert says in error.value.message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# Tidy\n", "1: expected --- on the first line"),
        ("---\nname: tidy\n", "1: the fields have no end"),
        ("---\n---\nSweep.", "2: expected fields"),
        ("---\n- a\n---\nSweep.", "2: expected fields as KEY: VALUE"),
        ("---\nname: tidy\n---\nSweep.", "1: a skill needs a description"),
        ("---\nname: Tidy_Up\ndescription: x\n---\nSweep.", "2: name: expected small letters"),
        (
            "---\nname: other\ndescription: x\n---\nSweep.",
            "2: name: expected the name of its folder",
        ),
        ("---\ndescription: x\n---\nSweep.", "1: a skill needs a name"),
        ("---\nname: tidy\ndescription: x\n---\n", "says nothing"),
    ],
)
def test_what_is_no_skill_says_so(text, says):
    with pytest.raises(SkillError) as error:
        parse_skill(text, source="s", folder="tidy", tools=TOOLS)

    assert f"s:{says}" in error.value.message or says in error.value.message


def test_all_mistakes_are_told_at_once(head):
    with pytest.raises(SkillError) as error:
        head("thinking: hard", "license: [x]")

    assert error.value.message.count("s/SKILL.md:") == 2


def test_text_stays_text_and_bombs_do_not_go_off():
    """YAML 1.1 makes numbers and truth of words; here a version is what was written."""
    fields, _ = split_frontmatter("---\nversion: 1.10\non: yes\n---\n", source="s")

    assert {key: value.plain() for key, value in fields.items()} == {"version": "1.10", "on": "yes"}
    with pytest.raises(SkillError, match="more than"):
        split_frontmatter(f"---\na: [{'x, ' * 9000}x]\n---\n", source="s")


def test_words_in_brackets_stay_together():
    assert split_words("Bash(git diff:*) Read,Grep") == ["Bash(git diff:*)", "Read", "Grep"]
