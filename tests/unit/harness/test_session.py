"""Opening a session: what must be right before anything runs, and what it is told of."""

import anyio
import pytest

from orchestrator.config.settings import Settings
from orchestrator.errors import ConfigError, PolicyError
from orchestrator.harness.options import LimitOptions
from orchestrator.harness.session import open_session
from orchestrator.schema.event import ErrorRaised, SessionStart

OWN = {"api": "openai-chat", "base_url": "http://127.0.0.1:9", "key_required": False}


def opening(options, paths, front, look=None):
    async def run():
        settings = Settings(providers={"own": OWN})
        async with open_session(options, settings, paths, front=front) as session:
            return look(session) if look else None

    return anyio.run(run)


def policy_file(tmp_path, text):
    path = tmp_path / "policy.yaml"
    path.write_text(f"version: 1\nname: p\nextends: [default]\n{text}")
    return (str(path),)


def test_model_that_policy_does_not_allow_opens_nothing(tmp_path, options, paths, front):
    """Neither key nor box is touched."""
    policies = policy_file(tmp_path, "models: {allow: ['anthropic/*']}\n")

    with pytest.raises(ConfigError, match="does not allow it") as caught:
        opening(options(policies=policies), paths, front)

    assert "anthropic/*" in caught.value.hint
    assert not paths.state.exists()


def test_unknown_tool_opens_nothing(options, paths, front):
    """A misspelled tool is not left out in silence."""
    with pytest.raises(ConfigError, match="did you mean bash"):
        opening(options(tools=("read", "bsh")), paths, front)

    assert not paths.state.exists()


def test_policy_that_cannot_be_loaded_opens_nothing(options, paths, front):
    """No session under a policy nobody can read."""
    with pytest.raises(PolicyError):
        opening(options(policies=("no-such-policy",)), paths, front)

    assert not paths.state.exists()


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_open_session_tells_what_it_runs_under(options, paths, front, project):
    """Model, policy, image, proved controls, workspace; the prompt is there to be said."""
    session_id, said = opening(
        options({"text": "x"}),
        paths,
        front,
        lambda s: (s.id, (s.prompt, s.record.transcript.messages())),
    )

    (start,) = front.of(SessionStart)
    assert start.model == "scripted/scripted-1"
    assert start.policy["name"] == "default"
    assert start.policy["digest"].startswith("sha256:")
    assert start.image.startswith("sha256:")
    assert start.posture["controls"]["no_network"] is True
    assert start.workspace["path"] == str(project)
    assert said == ("do it", ())
    assert '"type":"close"' in paths.audit_log(session_id).read_text()


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_cost_limit_that_cannot_bite_is_told(tmp_path, options, paths, front):
    """A model without known prices is not limited by cost, and the person knows."""
    limits = "limits: {cost_usd: 5}\nmodels: {allow: ['own/*', 'scripted:*']}\n"
    policies = policy_file(tmp_path, limits)

    opening(options(policies=policies, model="own/unheard-of"), paths, front)
    assert [event.where for event in front.of(ErrorRaised)] == ["limits.cost_usd"]

    front.events.clear()
    opening(options(policies=policies), paths, front)
    assert front.of(ErrorRaised) == []


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_cost_limit_that_bites_no_more_is_told_as_the_model_changes(
    tmp_path, options, paths, front
):
    """A flag's limit and the day's too; the change is in the session's file all the same."""
    limits = "limits: {cost_usd_per_day: 5}\nmodels: {allow: ['own/*', 'scripted:*']}\n"
    asked = options(policies=policy_file(tmp_path, limits), limits=LimitOptions(cost_usd=1.0))

    async def scene():
        settings = Settings(providers={"own": OWN})
        async with open_session(asked, settings, paths, front=front) as session:
            before = list(front.of(ErrorRaised))
            await session.models.switch("own/unheard-of")
            changes = [e for e in session.record.store.tree.entries if e.type == "model_change"]
            return before, changes[-1].body["name"]

    assert anyio.run(scene) == ([], "own/unheard-of")
    assert [event.where for event in front.of(ErrorRaised)] == [
        "--max-budget-usd, limits.cost_usd, limits.cost_usd_per_day"
    ]


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_each_model_without_a_price_is_told_once_whatever_it_is_for(
    tmp_path, options, paths, front
):
    """One for summaries and one that takes over too; another level of thinking is no new model."""
    limits = "limits: {cost_usd: 5}\nmodels: {allow: ['own/*', 'scripted:*', nobody/knows]}\n"
    others = {"small_model": "own/little", "fallback": ("own/main", "own/other", "nobody/knows")}
    asked = options(model="own/main", policies=policy_file(tmp_path, limits), **others)

    async def scene():
        settings = Settings(providers={"own": OWN})
        async with open_session(asked, settings, paths, front=front) as session:
            session.models.think("high")
            session.models.think(None)
            await session.models.switch("own/late")
            await session.models.switch("own/main")

    anyio.run(scene)
    named = [event.message.split()[3] for event in front.of(ErrorRaised)]
    assert named == ["own/main", "own/little", "own/other", "own/late"]
