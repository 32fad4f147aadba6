"""Programs in a real box ask a model whose key they never see."""

import json
from functools import partial
from pathlib import Path

import anyio
import pytest
import yaml

from orchestrator.config.paths import Paths
from orchestrator.config.providers import ModelSettings, ProviderSettings
from orchestrator.config.settings import Settings
from orchestrator.harness.options import RunOptions
from orchestrator.harness.run import run_session
from orchestrator.schema.event import LimitReached, ModelCallInBox, SessionEnd, ToolEnd
from tests.support.model_server import Reply, anthropic_reply, serving
from tests.support.workspaces import drop_workspaces, give
from tests.support.world import bash

pytestmark = pytest.mark.docker

KEY = "sk-ant-planted-9d2f6c1b7a4e"
BODY = json.dumps(
    {
        "model": "claude-small",
        "max_tokens": 50,
        "stream": True,
        "messages": [{"role": "user", "content": "hi"}],
    }
)
CURL = (
    "curl -sSN -w '%{http_code}' \"$ANTHROPIC_BASE_URL/v1/messages?beta=true\" "
    "-H 'content-type: application/json' "
)
GIVEN = CURL + f"-H \"x-api-key: $ANTHROPIC_API_KEY\" -d '{BODY}'"


class Told:
    """A front door that keeps what it is told."""

    def __init__(self):
        self.events, self.notes = [], []

    def observer(self, session):
        self.session = session
        return self.events.append

    def person(self):
        return None

    def note(self, text):
        self.notes.append(text)

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


class Visit:
    """One run whose box may ask a model that a test serves."""

    def __init__(self, root: Path, address: str):
        self.root, self.told = root, Told()
        self.paths = Paths(root / "state", root / "config")
        self.project = root / "project"
        self.project.mkdir()
        give(self.project)
        prices = {"claude-small": ModelSettings(input_price=1000.0, output_price=1000.0)}
        anthropic = ProviderSettings(base_url=address, models=prices)
        self.settings = Settings(providers={"anthropic": anthropic})

    async def run(self, *commands, limits=None, resume=None, turn=None, prices=None, **box):
        policy, script = self.root / "policy.yaml", self.root / "script.yaml"
        models = {"in_box": "allow", "box": {"allow": ["anthropic/*"], **box}}
        # The gate asks about `curl -d`, as about any upload; here it is the way out that is tried.
        risks = {"risks": dict.fromkeys(("upload", "secrets", "opaque"), "allow")}
        body = {
            "version": 1,
            "name": "m",
            "extends": ["default"],
            "models": models,
            "commands": risks,
            "limits": limits or {},
        }
        policy.write_text(yaml.safe_dump(body))
        turns = [*({**bash(command), **(turn or {})} for command in commands), {"text": "done"}]
        own = {"model": {"name": "own", "prices": prices}} if prices else {}
        script.write_text(yaml.safe_dump({"version": 1, "turns": turns, **own}))
        options = RunOptions(
            prompt="go",
            directory=self.project,
            model=f"scripted:{script}",
            policies=(str(policy),),
            resume=resume,
        )
        await run_session(options, self.settings, self.paths, front=self.told)
        return [event.output for event in self.told.of(ToolEnd)]

    @property
    def everything_told(self):
        kept = b"".join(
            path.read_bytes() for path in (self.root / "state").rglob("*.json*") if path.is_file()
        )
        return f"{self.told.events}{self.told.notes}" + kept.decode("utf-8", "replace")

    def records(self, kind):
        (chain,) = (self.paths.state / "audit").glob("*.jsonl")
        found = (json.loads(line) for line in chain.read_bytes().splitlines())
        return [item["body"] for item in found if item["type"] == kind]


@pytest.fixture
def visit(tmp_path, monkeypatch):
    """Opens visits at an address, with a key in the host's environment."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    made = []

    def at(address):
        made.append(Visit(tmp_path, address))
        return made[-1]

    yield at
    for each in made:
        drop_workspaces(each.paths)


def test_curl_in_the_box_streams_an_answer_and_finds_no_key(visit):
    """The provider sees the host's key, the box its placeholder; totals count what it used."""
    hostile = anthropic_reply(text=f"Hello {KEY[:9]}" + KEY[9:])
    with serving(hostile) as server:
        visited = visit(server.address)
        streamed, wrong, found = anyio.run(
            visited.run,
            GIVEN,
            CURL + f"-H 'x-api-key: sk-other' -d '{BODY}'",
            # Counted, since the run's own redaction would hide it from us.
            "env | grep -c API_KEY; env | grep -c gbx_; "
            "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | grep -ac 'sk-ant-pl[a]nted'; "
            "grep -rac 'sk-ant-pl[a]nted' /etc /run /tmp /var 2>/dev/null | grep -vc ':0$'",
        )

    assert "message_stop" in streamed
    assert streamed.rstrip().endswith("200")
    assert "401" in wrong
    assert found.split()[:4] == ["1", "1", "0", "0"]
    (asked,) = server.asked
    assert asked.headers["x-api-key"] == KEY
    assert asked.path == "/v1/messages?beta=true"
    assert KEY not in visited.everything_told
    allowed, refused = visited.records("model_call_in_box")
    assert (allowed["model"], refused["effect"]) == ("claude-small", "deny")
    assert allowed["caller"]["program"].endswith("curl")
    (ended,) = visited.records("model_call_in_box_end")
    assert ended["usage"]["output"] == 7
    assert [event.status for event in visited.told.of(ModelCallInBox)] == [200, None]
    (end,) = visited.told.of(SessionEnd)
    assert end.usage["output"] == 7


def test_program_that_knows_no_variables_of_ours_is_refused_by_budget(visit):
    """A budget that is used up is an end, not a reason to try again."""
    with serving(Reply(body={"usage": {"input_tokens": 30, "output_tokens": 40}})) as server:
        visited = visit(server.address)
        first, second = anyio.run(
            lambda: visited.run(
                GIVEN, GIVEN, tokens=140, map={"claude-small": "anthropic/claude-x"}
            )
        )

    assert first.rstrip().endswith("200")
    assert second.rstrip().endswith("403")
    assert "models.box.tokens" in second
    assert [asked.body["model"] for asked in server.asked] == ["claude-x"]


def test_what_the_box_spent_counts_to_the_day_and_to_the_session_that_is_resumed(visit):
    """70 tokens of it at a dollar a thousand; the session's own money knows them after a resume."""
    with serving(Reply(body={"usage": {"input_tokens": 30, "output_tokens": 40}})) as server:
        visited = visit(server.address)
        (first,) = anyio.run(visited.run, GIVEN)
        day = json.loads((visited.paths.state / "model-cost.json").read_text())
        session = visited.told.session
        limited = partial(visited.run, GIVEN, limits={"cost_usd_per_day": 0.1})
        visited.told.events.clear()
        (second,) = anyio.run(limited)
        visited.told.events.clear()
        anyio.run(partial(visited.run, limits={"cost_usd": 0.07}, resume=session))

    assert first.rstrip().endswith("200")
    assert day["cost_usd"] == pytest.approx(0.07)
    assert second.rstrip().endswith("403")
    assert "limits.cost_usd_per_day" in second
    assert len(server.asked) == 1
    [limit] = visited.told.of(LimitReached)
    assert (limit.kind, limit.value, limit.over) == ("cost", 0.07, "session")


@pytest.mark.parametrize(
    ("turn", "limits", "rule"),
    [
        (1950, {"cost_usd": 2}, "limits.cost_usd"),
        (1950, {"tokens": 2000}, "limits.tokens"),
        (1000, {"cost_usd": 2, "tokens": 2000}, None),
    ],
)
def test_box_may_take_what_the_conversation_left(visit, turn, limits, rule):
    """A turn of 1,950 tokens at $1 a thousand leaves no room for a call of the box."""
    with serving(Reply(body={"usage": {"input_tokens": 30, "output_tokens": 40}})) as server:
        visited = visit(server.address)
        used = {"usage": {"input": turn}}
        spent = partial(visited.run, limits=limits, turn=used, prices={"input": 1000, "output": 0})
        (answer,) = anyio.run(spent, GIVEN)

    if rule is None:
        assert answer.rstrip().endswith("200")
        return
    assert answer.rstrip().endswith("403")
    assert rule in answer
    assert server.asked == []
