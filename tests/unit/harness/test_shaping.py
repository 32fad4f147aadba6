"""The answer of a run as an object."""

import json
from functools import partial

import anyio
import pytest

from orchestrator.config.settings import Settings
from orchestrator.errors import ConfigError
from orchestrator.harness.run import run_session
from orchestrator.harness.shaping import read_wanted
from orchestrator.schema.event import ErrorRaised
from orchestrator.sessions.stats import stats_of
from orchestrator.sessions.view import SessionView

SCHEMA = {"type": "object", "properties": {"done": {"type": "boolean"}}, "required": ["done"]}


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "my form.json"
    path.write_text(json.dumps(SCHEMA))
    return path


def run(options, paths, front):
    return anyio.run(partial(run_session, options, Settings(), paths, front=front))


def test_name_is_in_letters_that_providers_take(schema):
    assert read_wanted(schema).name == "my_form"


@pytest.mark.parametrize("text", ["", "[]", '{"type": "string"}', "{", '{"type": 3}'])
def test_file_that_is_no_schema_is_refused(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)

    with pytest.raises(ConfigError, match=r"--output-schema .*x\.json: "):
        read_wanted(path)


def test_file_that_is_missing_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_wanted(tmp_path / "none.json")


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_run_answers_with_the_object(options, paths, front, schema):
    """After the work is done, mended where it had to be, and kept in the conversation."""
    script = {"structured": ["done, I think", '{"done": true}']}
    end = run(options({"text": "made it"}, top=script, output_schema=schema), paths, front)

    assert (end.status, json.loads(end.answer)) == ("done", {"done": True})
    [session] = paths.sessions.rglob("*.jsonl")
    rows = [json.loads(line) for line in session.read_text().splitlines()]
    texts = [row["body"]["content"][0]["text"] for row in rows if row["type"] == "message"]
    assert texts[-1] == '{"done": true}'
    assert stats_of(SessionView.open(session).tree.entries).total.unpriced == 0
    purposes = [row["body"].get("purpose") for row in rows if row["type"] == "custom"]
    assert purposes.count("structured") == 2


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_run_without_an_object_fails(options, paths, front, schema):
    """What the model did is kept, and nobody takes its words for the object."""
    script = {"structured": ["no", "no"]}
    end = run(options({"text": "made it"}, top=script, output_schema=schema), paths, front)

    assert (end.status, end.exit_code, end.answer) == ("failed", 6, "")
    assert "got one that does not" in front.of(ErrorRaised)[0].message
