"""Another provider in mid-session, for every ordered pair of APIs, and back again.

Each side is a vendor that refuses what its documents forbid and signatures that are not its own; so
is another vendor of the same API.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import anyio
import pytest

from orchestrator.config.providers import ApiKind, ProviderSettings
from orchestrator.schema.event import MessageDelta
from orchestrator.schema.message import AssistantMessage, Image, Text
from orchestrator.sessions.store import SessionStore
from tests.support.api_talk import MODELS, REFUSED, Talk, open_talk, settings_of
from tests.support.model_history import PIXEL
from tests.support.model_server import Reply, error_body
from tests.support.vendor import Say, Vendor

APIS: tuple[ApiKind, ...] = ("anthropic", "openai-responses", "openai-chat", "gemini")
PAIRS = list(product(APIS, repeat=2))
PICTURE = Image("image/png", PIXEL)
ECHO = '{"command": "echo hi"}'
# Both sides give their calls the same ids, as servers that count do.
TWO = (("call_1", "bash", ECHO), ("call_2", "bash", f'{{"command": "{REFUSED}"}}'))
ONE = (("call_1", "bash", '{"command": "ls"}'),)
FIRST = (
    Say("Let me see.", TWO, thought="first thinks of both"),
    Say("It is one pixel.", thought="first has seen it"),
    Say("half an answer " * 40, thought="first is cut off", hangs=True),
)
SECOND = (
    Say("", TWO, thought="second thinks of both"),
    Say("Second is done.", thought="second is content"),
)
AGAIN = (
    Say("", ONE, thought="first thinks again"),
    Say("All done.", thought="first is content"),
)


async def _cut_off(talk: Talk) -> None:
    """Say something, and break the answer off once some of it was heard."""
    heard = anyio.Event()
    talk.watch = lambda event: (
        heard.set() if isinstance(event, MessageDelta) and event.kind == "text" else None
    )
    async with anyio.create_task_group() as group:
        group.start_soon(talk.say, "and in words?")
        with anyio.fail_after(20):
            await heard.wait()
        group.cancel_scope.cancel()


def _two(first: Vendor, second: Vendor) -> tuple[str, str, dict[str, ProviderSettings]]:
    """Return the names of both vendors' models, and the settings that name them."""
    providers = {
        "here": settings_of(first.api, first.address),
        "there": settings_of(second.api, second.address),
    }
    return f"here/{MODELS[first.api]}", f"there/{MODELS[second.api]}", providers


async def _switch_there_and_back(folder: Path, first: Vendor, second: Vendor) -> list[str]:
    answers = []
    here, there, providers = _two(first, second)
    async with open_talk(folder, here, providers) as talk:
        answers.append((await talk.say("look at this", PICTURE)).answer)
        await _cut_off(talk)
        await talk.use(there)
        answers.append((await talk.say("go on")).answer)
        await talk.use(here)
        answers.append((await talk.say("and you?", PICTURE)).answer)
    return answers


@pytest.mark.parametrize(("here", "there"), PAIRS, ids=lambda api: api)
def test_switch_there_and_back(here: ApiKind, there: ApiKind, tmp_path: Path) -> None:
    """Neither refuses what the other left behind, and each gets its own signatures back."""
    with Vendor(here, *FIRST, *AGAIN) as first, Vendor(there, *SECOND) as second:
        answers = anyio.run(_switch_there_and_back, tmp_path, first, second)
    assert (first.refused, second.refused) == ([], [])
    assert answers == ["It is one pixel.", "Second is done.", "All done."]
    # The broken off answer never came to its signature; the newest answers were not sent back yet.
    assert first.came_back() == [first.issued[0], first.issued[1], first.issued[3]]
    assert second.came_back() == second.issued[:1]
    for vendor, others in ((second, first), (first, second)):
        last = str(vendor.asked[-1].body)
        assert last.count("data:image/png") + last.count("'image/png'") >= 1
        assert all(thought not in last for _, thought in others.issued if "thinks" in thought)
        assert "half an answer" in last
        assert "it destroys" in last
    _check_file(tmp_path / "session.jsonl")


def _check_file(path: Path) -> None:
    """The file has every answer under the name of the model that gave it."""
    with SessionStore.open(path) as store:
        said = [m for m in store.messages() if isinstance(m, AssistantMessage)]
    assert [message.model.split("/")[0] for message in said] == [
        *("here", "here", "here", "there", "there", "here", "here")
    ]
    assert said[2].stop_reason == "aborted"
    assert said[2].content == (Text(said[2].text),)
    ids = [call.id for message in said for call in message.tool_calls]
    assert len(ids) == len(set(ids)) == 5


@pytest.mark.parametrize(("here", "there"), PAIRS, ids=lambda api: api)
def test_fallback_in_the_middle_of_a_turn(here: ApiKind, there: ApiKind, tmp_path: Path) -> None:
    """Another model ends the turn whose calls it did not make, and the first one may go on."""
    empty = Reply(402, {}, error_body(here, "billing_error", "no credit"))

    async def scene(first: Vendor, second: Vendor) -> list[str]:
        one, other, providers = _two(first, second)
        answers = []
        async with open_talk(tmp_path, one, providers, fallback=(other,)) as talk:
            answers.append((await talk.say("look at this", PICTURE)).answer)
            await talk.use(one)
            answers.append((await talk.say("and you?")).answer)
        return answers

    script = (Say("", TWO, thought="first thinks of both"), empty, *AGAIN)
    with Vendor(here, *script) as first, Vendor(there, *SECOND) as second:
        answers = anyio.run(scene, first, second)
    assert (first.refused, second.refused) == ([], [])
    assert answers == ["Second is done.", "All done."]
    assert second.came_back() == second.issued[:1]
    assert first.came_back() == first.issued[:2]
