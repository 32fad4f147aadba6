"""What was sent once is sent the same again: prompt caches live on that."""

from itertools import pairwise

import pytest

from orchestrator.tools.registry import builtin_tools
from tests.support.long_talk import BODIES, requests, speech_of

TOOLS = tuple(tool.definition for tool in builtin_tools(("read", "write", "edit", "bash")))


@pytest.mark.parametrize("api", BODIES)
def test_each_request_begins_with_the_one_before(tmp_path, api):
    """Over thirty turns of calls, thoughts and pictures, byte for byte."""
    sent = list(requests(api, speech_of(TOOLS), tmp_path))

    assert len(sent) == 60
    for before, after in pairwise(sent):
        assert after.startswith(before)


@pytest.mark.parametrize("api", BODIES)
def test_another_prompt_begins_anew(tmp_path, api):
    """The test above can fail: another skill's prompt changes the beginning."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = next(requests(api, speech_of(TOOLS, "one"), tmp_path / "a"))
    other = next(requests(api, speech_of(TOOLS, "other"), tmp_path / "b"))

    assert not other.startswith(one)
