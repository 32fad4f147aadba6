"""An answer that a program reads: checked, mended once, or refused."""

import json
from dataclasses import replace

import anyio
import pytest

from orchestrator.errors import ConfigError, ModelError
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.model.structured import Wanted, ask_structured, unfenced
from orchestrator.schema.message import AssistantMessage, Text, UserMessage

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"enum": ["good", "bad"]}, "sure": {"type": "number"}},
    "required": ["verdict"],
}
GOOD = '{"verdict": "good", "sure": 0.9}'


class Model:
    """Says its answers in order; keeps what it was asked; may not know some tiers."""

    def __init__(self, *answers, tier="native", knows=("prompt", "json", "native", "grammar")):
        self.info = replace(ModelInfo("x", "m", 1000, 100), tier=tier)
        self.answers, self.knows, self.asked = list(answers), knows, []

    async def complete(self, prompt, *, on_delta):  # noqa: ARG002 - the Protocol's form
        self.asked.append(prompt)
        if (prompt.shape.tier if prompt.shape else "prompt") not in self.knows:
            raise ModelError("no such mode", kind="bad_request")
        answer = self.answers.pop(0)
        if isinstance(answer, AssistantMessage):
            return answer
        return AssistantMessage((Text(answer),), "end_turn")


def ask(model, **more):
    wanted = Wanted("verdict", SCHEMA, **more)
    prompt = Prompt("system", (UserMessage((Text("judge"),)),))
    return anyio.run(ask_structured, model, prompt, wanted)


def said(prompt):
    return prompt.messages[-1].content[0].text


@pytest.mark.parametrize("tier", ["prompt", "json", "native", "grammar"])
def test_object_that_follows_is_taken_at_once(tier):
    model = Model(GOOD, tier=tier)
    made = ask(model)

    assert made.value == {"verdict": "good", "sure": 0.9}
    assert (made.tier, made.attempts) == (tier, 1)
    assert (model.asked[0].shape is None) is (tier == "prompt")
    assert model.asked[0].purpose == "structured"
    assert json.dumps(SCHEMA) in said(model.asked[0])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("I think it is good.", "expected one JSON object"),
        ('{"verdict": "fine"}', "verdict: 'fine' is not one of"),
        ("{}", "'verdict' is a required property"),
        ("[1]", "is not of type 'object'"),
        (AssistantMessage((Text('{"verdict": "good"'),), "max_tokens"), "ended with max_tokens"),
        ("[" * 100_000, "expected one JSON object"),
    ],
)
def test_wrong_object_is_mended_once_with_its_faults_named(wrong, told):
    model = Model(wrong, GOOD)
    made = ask(model)

    assert made.attempts == 2
    assert told in said(model.asked[1])


def test_second_wrong_object_is_refused():
    """A program must never get an object that it cannot rely on."""
    with pytest.raises(ModelError, match=r"got one that does not: verdict: 'c'"):
        ask(Model('{"verdict": "a"}', '{"verdict": "c"}', GOOD))


def test_check_says_what_no_schema_can():
    model = Model('{"verdict": "bad"}', GOOD)
    made = ask(model, check=lambda v: "nobody is bad" if v["verdict"] == "bad" else None)

    assert made.value["verdict"] == "good"
    assert "nobody is bad" in said(model.asked[1])


def test_doubt_is_asked_about_and_then_refused():
    doubt = '{"verdict": "good", "sure": 0.2}'
    sure = {"confidence": lambda value: value.get("sure", 0.0), "threshold": 0.5}

    assert ask(Model(doubt, GOOD), **sure).confidence == 0.9
    with pytest.raises(ModelError, match=r"confidence 0\.20 is below 0\.50"):
        ask(Model(doubt, doubt), **sure)


@pytest.mark.parametrize(
    ("tier", "knows", "used"),
    [
        ("native", ("prompt", "json"), "json"),
        ("native", ("prompt",), "prompt"),
        ("grammar", ("prompt",), "prompt"),
    ],
)
def test_server_that_does_not_know_a_tier_is_asked_by_the_next(tier, knows, used):
    """The object is checked here all the same."""
    assert ask(Model(GOOD, tier=tier, knows=knows)).tier == used


def test_refusal_that_is_no_matter_of_tiers_is_raised():
    with pytest.raises(ModelError, match="no such mode"):
        ask(Model(GOOD, knows=()))


def test_thought_comes_first_where_it_is_asked_for():
    """Free text, then the object made of it; the thought is in the second request."""
    model = Model("On balance, good.", GOOD)
    made = ask(model, reason_first=True)

    assert model.asked[0].shape is None
    assert model.asked[1].messages[-2].text == "On balance, good."
    assert (made.attempts, len(made.answers)) == (1, 1)


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("a b", SCHEMA),
        ("x", {"type": "objekt"}),
        ("x", {"type": "array"}),
        ("x", {"type": "object", "properties": 3}),
    ],
)
def test_schema_that_is_none_is_refused_before_anything_is_asked(name, schema):
    with pytest.raises(ConfigError, match="output schema"):
        Wanted(name, schema)


def test_reference_to_an_address_is_never_fetched():
    """A schema file must not make the host dial."""
    wanted = Wanted("x", {"type": "object", "$ref": "http://192.0.2.1/schema.json"})
    model = Model("{}", "{}")
    with pytest.raises(ModelError, match="cannot be followed"):
        anyio.run(ask_structured, model, Prompt("", ()), wanted)


@pytest.mark.parametrize("text", ["{}", "```json\n{}\n```", "  ```\n{}\n```\n"])
def test_code_fence_around_the_whole_is_taken_off(text):
    assert unfenced(text) == "{}"
