"""What a session runs under, before there is a box."""

from functools import partial

import anyio
import pytest

from orchestrator.config.settings import ApprovalsSettings
from orchestrator.dispatch.output import OutputFilter
from orchestrator.errors import GloveboxError, UsageError
from orchestrator.harness.governed import govern
from orchestrator.harness.options import NO_MODEL
from orchestrator.redaction.redactor import Redactor
from orchestrator.schema.event import ApprovalAnswer, DecisionMade
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import ToolCall
from orchestrator.schema.request import ExecRequest


class Kept(list):
    def append(self, kind, body):
        super().append((kind, body))


def governed(options, paths, front):
    return anyio.run(partial(govern, options, ApprovalsSettings(), paths, front=front))


def policy_file(tmp_path, text):
    path = tmp_path / "own.yaml"
    path.write_text(f"version: 1\nname: own\nextends: [default]\n{text}")
    return (str(path),)


def test_policy_that_denies_the_model_denies_the_session(options, paths, front, tmp_path):
    """One without a model has none that could be denied."""
    policies = policy_file(tmp_path, "models: {allow: [local]}\n")

    with pytest.raises(GloveboxError, match="model"):
        governed(options(policies=policies), paths, front)
    found = governed(options(policies=policies, model=NO_MODEL), paths, front)
    assert found.policy.name == "own"
    assert not paths.state.exists()


def test_directory_that_is_no_project_is_refused(options, paths, front):
    """Before anything is read of it."""
    with pytest.raises(UsageError):
        governed(options(directory=paths.state.parent), paths, front)


def test_judge_stands_on_policy_and_on_who_answers(options, paths, front):
    """An ask that nobody can answer is a no, recorded and told."""
    found = governed(options(approve="deny"), paths, front)
    audit, told = Kept(), []
    judge = found.judge("0" * 12, audit, OutputFilter(Redactor({})), observe=told.append)
    call = ToolCall(CallId("c1"), "bash", "{}", {})

    harmless = anyio.run(judge.judge, call, ExecRequest("ls", "/workspace", 5.0))
    risky = anyio.run(judge.judge, call, ExecRequest("git push", "/workspace", 5.0))

    assert (harmless.allowed, risky.allowed) == (True, False)
    assert [event.effect for event in told if isinstance(event, DecisionMade)] == ["allow", "ask"]
    assert [event.by for event in told if isinstance(event, ApprovalAnswer)] == ["nobody"]
    assert [kind for kind, _ in audit] == ["approval_asked", "approval"]
