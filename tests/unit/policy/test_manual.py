"""The manual's examples and tables hold."""

import re
from pathlib import Path
from typing import get_args

import pytest

from orchestrator.policy.cases import parse_cases, run_cases
from orchestrator.policy.merge import ALLOW_LISTS
from orchestrator.policy.network_rules import NetworkRule
from orchestrator.policy.rules import CommandRule
from orchestrator.schema.decision import Risk
from tests.support.egress import judge

MANUAL = (Path(__file__).parents[3] / "docs" / "policies.md").read_text("utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", MANUAL, re.DOTALL)


def _block(word: str) -> str:
    (found,) = [block for block in BLOCKS if word in block]
    return found


def test_the_whole_file_of_the_manual_loads(tmp_path, shipped):
    """What the manual shows can be copied."""
    (tmp_path / "mine.yaml").write_text(_block("name: acme-web"))
    policy = shipped(str(tmp_path / "mine.yaml"))

    assert policy.limits.wall_time == 3600
    assert "**/deploy/**" in policy.workspace.protected


def test_the_rule_for_one_risky_command_loads_and_answers_its_risk(load):
    """Pushing topics runs, pushing elsewhere asks."""
    text = (
        "extends: [base]\n" + _block("id: push-topics"),
        "tools: {default: allow}\ncommands: {default: allow, risks: {publishes: ask, destructive: ask}}",
    )
    policy = load("p", p=text[0], base=text[1])
    cases = parse_cases(
        "- {id: a, command: git push origin topic/x, expect: allow}\n"
        "- {id: b, command: git push origin main, expect: ask}\n",
        file="manual",
    )

    assert run_cases(policy, cases).failed == ()


def test_the_case_file_of_the_manual_holds(shipped):
    """The cases shown are true of the default policy."""
    cases = parse_cases(_block("id: link"), file="manual")

    assert len(cases) == 6
    assert run_cases(shipped("default"), cases).failed == ()


def test_the_settings_on_started_programs_load(load):
    """What the page shows of the record means what it says."""
    policy = load(p=_block("exec_record"))

    assert policy.sandbox.exec_record
    assert policy.unexpected == "end"


def test_every_block_of_the_manual_is_checked():
    """A new example needs a test here."""
    assert len(BLOCKS) == 5


def test_the_network_section_of_the_manual_does_what_the_page_says(load):
    """Its rules, and what is said of paths."""
    policy = load(p=_block("id: new-issue"))
    issue = judge(policy, "POST https://api.acme.example/repos/acme/web/issues")
    read = judge(policy, "GET https://api.acme.example/repos/acme/web")
    opaque = judge(policy, "CONNECT db.acme.example:5432")

    assert (issue.decision.effect, issue.terms.max_upload) == ("ask", 256 * 1024)
    assert (read.decision.effect, read.terms.injections[0].secret) == ("allow", "acme")
    assert (opaque.decision.effect, opaque.terms.private) == ("allow", ("10.20.0.0/16",))
    assert judge(policy, "GET https://x.docs.acme.example/").decision.effect == "allow"
    assert judge(policy, "GET https://acme.example/").decision.effect == "deny"
    npm = load(p=NPM)
    assert judge(npm, "GET https://npm.acme.example/@scope%2fname").decision.effect == "allow"
    assert judge(npm, "GET https://npm.acme.example/@other%2fname").decision.effect == "deny"


NPM = (
    "network: {rules: [{id: n, hosts: npm.acme.example, paths: ['/@scope/*', '/@scope%2F*'], "
    "effect: allow}]}"
)


@pytest.mark.parametrize("name", sorted({*NetworkRule.model_fields} - {"id", "effect", "reason"}))
def test_the_manual_names_every_key_of_a_network_rule(name):
    """Nothing that may be written is missing from the page."""
    assert f"`{name}`" in MANUAL or name == "hint"


@pytest.mark.parametrize(
    "name", [*get_args(Risk), *sorted(set(CommandRule.model_fields) - {"id", "effect"})]
)
def test_the_manual_names_every_risk_and_criterion(name):
    """Nothing that may be written is missing from the page."""
    assert name in MANUAL


@pytest.mark.parametrize("loc", sorted(ALLOW_LISTS))
def test_the_manual_names_every_list_that_does_not_add(loc):
    """The exception is written where people look."""
    assert f"`{'.'.join(loc)}`" in MANUAL
