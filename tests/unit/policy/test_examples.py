"""Rules are held to their own examples."""

import pytest

from orchestrator.errors import PolicyError

RULE = """\
commands:
  rules:
    - id: no-force-push
      program: git
      args: [push]
      flags: {any: [--force, -f, --force-with-lease, --mirror]}
      effect: deny
      examples:
        match: %s
        no_match: %s
"""


def test_examples_that_hold_let_the_policy_load(load):
    """The rule of the manual: options in front do not hide the sub-command."""
    text = RULE % (
        '["git -C x push -f origin main", "echo a; git push --mirror", "sudo git push -f"]',
        '["git push origin HEAD:topic", "git stash push -f", "echo git push -f"]',
    )

    assert load(p=text).layers[0].document.commands.rules[0].id == "no-force-push"


def test_an_example_that_does_not_match_is_a_load_error_with_its_line(load):
    """A rule that does not do what its author thinks is not loaded."""
    with pytest.raises(PolicyError) as caught:
        load(p=RULE % ('["git push origin main"]', '["git push -f"]'))

    first, second = str(caught.value).split("\n")
    assert first.endswith(
        "p.yaml:5: rule 'no-force-push': expected a match for the example 'git push origin main'"
    )
    assert "expected no match for the example 'git push -f'" in second


def test_a_rule_on_a_risk_is_held_to_commands_with_that_risk(load):
    """Its example must be found risky, not only look like it."""
    text = (
        "commands: {rules: [{id: r, program: git, risks: [publishes], effect: allow,"
        " examples: {match: [git push], no_match: [git status, npm publish]}}]}"
    )

    assert load(p=text).name == "p"
