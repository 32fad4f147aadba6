"""A real agent in a box, without a key, in front of a mock that takes one key alone.

`make clients` plays the others: they are large, and not all may be handed out.
"""

import shutil

import pytest

from tests.clients.agents import AGENTS
from tests.clients.play import KEY, changed, drop, kept_in, play, records

pytestmark = [
    pytest.mark.docker,
    pytest.mark.timeout(400),
    pytest.mark.skipif(shutil.which("npm") is None, reason="the agent is installed with npm"),
]


@pytest.fixture
def played(tmp_path):
    made = []

    def run(prompt, **more):
        made.append(play(AGENTS["pi"], prompt, tmp_path / "world", **more))
        return made[-1]

    yield run
    for one in made:
        drop(one)


def test_agent_works_with_a_key_that_it_never_sees(played):
    """It makes a file in the box; the host's key is nowhere in what is kept."""
    done = played("make the file")

    assert done.ended.code == 0, done.said + done.ended.err
    assert "AGENT-DONE" in done.said
    assert set(changed(done)) == {"made.txt"}
    assert not (done.world.project / "made.txt").exists()
    assert [entry["path"] for entry in done.asked] == ["/v1/messages"] * 2
    calls = done.events("model_call_in_box")
    assert [(call["effect"], call["status"]) for call in calls] == [("allow", 200)] * 2
    assert kept_in(done, KEY) == []
    assert len(records(done, "model_call_in_box")) == 2


def test_agents_own_calls_pass_the_gate(played):
    """It asks before its tools, reads the reason of a no, and goes on."""
    done = played("publish the work")

    assert done.ended.code == 0, done.said + done.ended.err
    assert "AGENT-REFUSED" in done.said
    [call] = records(done, "client_call")
    assert (call["client"], call["tool"], call["allowed"]) == ("pi", "bash", False)
    assert call["request"]["command"] == "git push origin HEAD"
    assert call["decision"]["risks"] == ["publishes"]
    started = [row["argv"] for body in records(done, "outcome") for row in body["programs"]]
    assert not [argv for argv in started if argv[:2] == ["git", "push"]]


def test_another_key_on_the_host_opens_nothing(played):
    """So it is the host's key that the answers above were given for."""
    done = played("make the file", key="another-key")

    assert "AGENT-DONE" not in done.said
    assert done.asked == []
    assert {call["status"] for call in done.events("model_call_in_box")} == {401}
