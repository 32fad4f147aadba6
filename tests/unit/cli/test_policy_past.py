"""``glovebox policy replay|suggest|diff`` from the command line, on real chains."""

import json
from pathlib import Path

import anyio
import pytest

from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from tests.support.corridor import YES, call, open_corridor
from tests.unit.policy.conftest import SHIPPED


@pytest.fixture
def chain(tmp_path):
    policy = load_policy(["default"], search=SHIPPED, user_file=None)
    commands = ["git status", "make test", "git push origin main"]
    corridor = open_corridor(
        tmp_path / "past",
        ScriptedBox({command: Reply() for command in commands}),
        evaluate=lambda request, tool: evaluate(policy, request, tool=tool),
        answers=[YES],
    )
    for number, command in enumerate(commands):
        anyio.run(corridor.dispatcher.dispatch, [call("bash", number, command=command)])
    corridor.audit.close()
    return str(corridor.audit_file)


def test_replay_lists_what_would_flip(glovebox, chain):
    """Exit 1 where anything would, 0 where nothing does."""
    same = glovebox("policy", "replay", chain, "--policy", "default")
    other = glovebox("policy", "replay", chain, "--policy", "strict")

    assert (same.returncode, other.returncode) == (0, 1)
    assert "3 calls, 0 would be decided otherwise" in same.stdout
    assert "allow → ask" in other.stdout
    assert "bash make test" in other.stdout


def test_replay_is_data_on_request(glovebox, chain):
    """Every flip with both sides."""
    done = glovebox("policy", "replay", chain, "--policy", "strict", "--json")
    (flip,) = json.loads(done.stdout)["flips"]

    assert (flip["subject"], flip["was"], flip["now"]) == ("make test", "allow", "ask")


def test_replay_wants_a_policy(glovebox, chain):
    """There is no sensible default for what to try."""
    assert glovebox("policy", "replay", chain).returncode == 2


def test_suggestion_passes_the_replay_of_its_own_evidence(glovebox, chain, tmp_path):
    """The draft is a file that can be used at once."""
    draft = tmp_path / "draft.yaml"
    made = glovebox("policy", "suggest", chain, "-o", str(draft))
    checked = glovebox("policy", "lint", str(draft))
    replayed = glovebox("policy", "replay", chain, "--policy", str(draft))

    assert (made.returncode, checked.returncode, replayed.returncode) == (0, 0, 0)
    assert glovebox("policy", "suggest", chain, "-o", str(draft)).returncode == 2
    assert glovebox("policy", "suggest", chain, "--name", "a b").returncode == 2


def test_broken_chain_suggests_nothing(glovebox, chain):
    """Exit 7, as for every use of a chain that does not hold."""
    with Path(chain).open("r+b") as file:
        file.write(b"[")

    assert glovebox("policy", "suggest", chain).returncode == 7


def test_diff_tells_settings_and_decisions(glovebox, tmp_path):
    """Exit 0 only where there are none; on the built-in corpus or on case files."""
    cases = tmp_path / "cases.yaml"
    cases.write_text("- {id: a, command: make, expect: allow}\n")
    whole = glovebox("policy", "diff", "default", "strict")
    small = glovebox("policy", "diff", "default", "strict", "--cases", str(cases), "--json")
    data = json.loads(small.stdout)

    assert glovebox("policy", "diff", "default", "default").returncode == 0
    assert whole.returncode == small.returncode == 1
    assert "limits.steps: 200 → 20" in whole.stdout
    assert "more; --json lists all" in whole.stdout
    assert [item["subject"] for item in data["decisions"]] == ["make"]
    assert data["compared"] == 1


def test_cases_are_reported_as_junit(glovebox, tmp_path):
    """Beside the usual output, also where cases fail."""
    cases, report = tmp_path / "cases.yaml", tmp_path / "report.xml"
    cases.write_text(
        "- {id: a, command: ls, expect: deny}\n- {id: b, command: ls, expect: allow}\n"
    )
    done = glovebox("policy", "test", str(cases), "--junit", str(report))

    assert done.returncode == 1
    assert 'tests="2" failures="1"' in report.read_text("utf-8")
