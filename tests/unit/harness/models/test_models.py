"""The models of a session: switched, small, and those that take over."""

from types import SimpleNamespace

import anyio
import pytest
import yaml

from orchestrator.errors import ConfigError, CredentialError, ModelError
from orchestrator.harness.models.models import ModelSource, open_models
from orchestrator.harness.models.roles import Roles
from orchestrator.model.client import Prompt
from orchestrator.schema.event import Retry
from orchestrator.schema.head_event import ModelChange
from orchestrator.schema.message import Text, UserMessage

ASK = Prompt("", (UserMessage((Text("?"),)),))
DOWN = {"error": {"status": 529, "type": "overloaded_error", "retry_after": 0}}


@pytest.fixture
def script(tmp_path):
    """Write a scripted model and return its name."""

    def make(name, *turns):
        path = tmp_path / f"{name}.yaml"
        top = {"version": 1, "model": {"name": name, "context_window": 1000, "max_output": 100}}
        path.write_text(yaml.safe_dump({**top, "turns": list(turns)}))
        return f"scripted:{path}"

    return make


def use(roles, work, *, forbidden=(), events=None, notes=None, warned=None):
    """Open models under a policy that forbids some, and return what ``work`` returns."""
    policy = SimpleNamespace(
        name="p", model_allowed=lambda name: name not in forbidden, models_allow=()
    )
    said = warned if warned is not None else []
    source = ModelSource({}, {}, lambda _: None, said.append, lambda text: text)

    async def main():
        seen = events if events is not None else []
        async with open_models(roles, policy, source, observe=seen.append) as models:
            if notes is not None:
                models.note = notes.append
            return await work(models)

    return anyio.run(main)


async def ask(models):
    return (await models.complete(ASK, on_delta=lambda _: None)).text


def test_another_model_answers_from_the_next_request_on(script):
    """And the change is kept for the session and told."""
    events, notes = [], []

    async def work(models):
        first = await ask(models)
        await models.switch(script("b", {"text": "from b"}))
        return first, await ask(models), models.info.name

    roles = Roles(script("a", {"text": "from a"}))
    assert use(roles, work, events=events, notes=notes) == ("from a", "from b", "b")
    assert events == [ModelChange("scripted/b", None, "user")]
    assert [(body["model"], body["reason"]) for body in notes] == [("scripted/b", "user")]
    assert notes[0]["name"].endswith("b.yaml")


@pytest.mark.parametrize("name", ["nobody/knows", "openai/gpt-6.1-sol", "no-slash"])
def test_switch_that_fails_leaves_the_old_model(script, name):
    """Unknown, without a key, or no name at all."""

    async def work(models):
        with pytest.raises((ConfigError, CredentialError)):
            await models.switch(name)
        return await ask(models)

    assert use(Roles(script("a", {"text": "still a"})), work) == "still a"


@pytest.mark.parametrize("role", ["main", "small", "fallback"])
def test_no_role_gets_past_the_policy(script, role):
    """A model that may not be asked is refused before anything is opened."""
    bad = script("bad", {"text": "x"})
    given = {"main": script("a", {"text": "a"})} | {role: (bad,) if role == "fallback" else bad}

    async def work(_):
        raise AssertionError

    with pytest.raises(ConfigError, match="does not allow"):
        use(Roles(**given), work, forbidden=(bad,))


def test_switch_does_not_get_past_the_policy(script):
    bad = script("bad", {"text": "x"})

    async def work(models):
        with pytest.raises(ConfigError, match="does not allow"):
            await models.switch(bad)
        return await ask(models)

    assert use(Roles(script("a", {"text": "a"})), work, forbidden=(bad,)) == "a"


def test_outage_is_tried_a_little_and_then_given_to_the_next(script):
    events = []

    async def work(models):
        return await ask(models)

    roles = Roles(script("a", DOWN, DOWN, DOWN), fallback=(script("b", {"text": "b here"}),))
    assert use(roles, work, events=events) == "b here"
    assert len([event for event in events if isinstance(event, Retry)]) == 2
    assert events[-1] == ModelChange("scripted/b", None, "fallback")


def test_next_that_cannot_be_opened_says_both(script):
    async def work(models):
        with pytest.raises(ModelError, match="cannot be had, nor can openai/gpt"):
            await ask(models)

    use(Roles(script("a", DOWN, DOWN, DOWN), fallback=("openai/gpt-6.1-sol",)), work)


def test_small_model_is_another_or_the_main_one(script):
    async def small(models):
        return models.small.info.name

    main = script("a", {"text": "a"})
    assert use(Roles(main), small) == "a"
    assert use(Roles(main, small=script("s", {"text": "s"})), small) == "s"


def test_level_of_thinking_is_one_of_the_known(script):
    events = []

    async def work(models):
        models.think("high")
        with pytest.raises(ConfigError, match="expected one of off"):
            models.think("hard")
        return models.thinking

    assert use(Roles(script("a", {"text": "a"})), work, events=events) == "high"
    assert events == [ModelChange("scripted/a", "high", "user")]


def test_words_of_a_server_reach_no_terminal_as_they_are(script):
    """Somebody else wrote them: no escape sequence of theirs is shown."""
    warned = []

    async def work(models):
        return await ask(models)

    hostile = {"error": {**DOWN["error"], "message": "down \x1b[31m\x1b]52;c;x\x07"}}
    roles = Roles(script("a", hostile, hostile, hostile), fallback=(script("b", {"text": "b"}),))
    use(roles, work, warned=warned)

    assert "down" in warned[0]
    assert "takes over" in warned[0]
    assert "\x1b" not in warned[0]
    assert "\x07" not in warned[0]
