"""A session after a change of key or address: its vendor no longer takes back what it signed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from orchestrator.config.providers import ApiKind
from orchestrator.errors import ModelError
from orchestrator.schema.head_event import ContextTrimmed
from tests.support.api_talk import MODELS, open_talk, settings_of
from tests.support.vendor import Say, Vendor

WORDS: dict[ApiKind, str] = {
    "anthropic": "messages.1.content.0: Invalid `signature` in `thinking` block",
    "openai-responses": "The encrypted content gAAA could not be verified. Reason: Encrypted "
    "content could not be decrypted or parsed.",
    "gemini": "Corrupted thought signature.",
}
CALL = (("call_1", "bash", '{"command": "ls"}'),)
OLD = (Say("", CALL, thought="thinks of ls"), Say("One file.", thought="has seen it"))
NEW = (Say("", CALL, thought="thinks again"), Say("Still one.", thought="is content"))


class NewKey(Vendor):
    """A vendor that says in its own words whose signatures it does not take."""

    def _foreign(self, body: Mapping[str, Any]) -> Iterator[str]:
        if any(super()._foreign(body)):
            yield WORDS[self.api]


@pytest.mark.parametrize("api", WORDS)
def test_session_goes_on_without_the_thoughts_that_are_refused(
    api: ApiKind, tmp_path: Path
) -> None:
    """Once refused they are left out for good; newer ones go back, and the file keeps all."""
    name = f"own/{MODELS[api]}"

    async def scene(vendor: Vendor) -> list[ContextTrimmed]:
        async with open_talk(tmp_path, name, {"own": settings_of(api, vendor.address)}) as talk:
            await talk.say("look")
            vendor.issued.clear()
            assert (await talk.say("and now?")).answer == "Still one."
            assert (await talk.say("sure?")).answer == "Yes."
            return talk.of(ContextTrimmed)

    with NewKey(api, *OLD, *NEW, Say("Yes.")) as vendor:
        told = anyio.run(scene, vendor)

    assert vendor.refused == [WORDS[api]]
    assert [event.part for event in told] == ["thoughts"]
    assert vendor.came_back() == vendor.issued[:2]
    assert "thinks of ls" not in str(vendor.asked[-1].body)
    assert "thinks of ls" in (tmp_path / "session.jsonl").read_text()


@pytest.mark.parametrize("api", WORDS)
def test_refusal_without_any_thought_to_leave_out_is_told(api: ApiKind, tmp_path: Path) -> None:
    """And nothing goes round for ever."""

    class Stubborn(Vendor):
        def _foreign(self, body: Mapping[str, Any]) -> Iterator[str]:  # noqa: ARG002 - as there
            yield WORDS[api]

    async def scene(vendor: Vendor) -> None:
        providers = {"own": settings_of(api, vendor.address)}
        async with open_talk(tmp_path, f"own/{MODELS[api]}", providers) as talk:
            with pytest.raises(ModelError) as caught:
                await talk.say("look")
            assert caught.value.kind == "thoughts_refused"

    with Stubborn(api, Say("never")) as vendor:
        anyio.run(scene, vendor)
    assert len(vendor.asked) == 1
