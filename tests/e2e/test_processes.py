"""Long-running work from the outside: a server that stays, an interpreter that is gated."""

import pytest

from tests.support.world import bash, call

pytestmark = pytest.mark.docker

TOOLS = ("--tools", "bash,process")


def test_server_is_started_waited_for_and_used(world):
    """By calls of later turns; its end is told."""
    model = world.script(
        call(
            "process", action="start", id="web", waitFor="Serving HTTP",
            command="python3 -u -m http.server 8080 --bind 127.0.0.1",
        ),
        bash("curl -sf http://127.0.0.1:8080/notes.txt"),
        call("process", action="output", id="web", waitFor="GET"),
        call("process", action="signal", id="web", signal="INT"),
        {"text": "done"},
    )  # fmt: skip
    ended = world.run("run", "hi", "-m", model, *TOOLS, "--json")
    outputs = [event["output"] for event in ended.of("tool_end")]

    assert ended.code == 0, ended.err
    assert "[web is running, " in outputs[0]
    assert "waitFor was found" in outputs[0]
    assert outputs[1] == "one\ntwo"
    assert '"GET /notes.txt HTTP/1.1" 200' in outputs[2]
    assert "[web ended after" in outputs[3]
    assert any("Serving HTTP" in event["text"] for event in ended.of("tool_update"))


def test_interpreter_takes_only_what_the_gate_lets_through(world):
    """Typed in whole or in pieces; the refusal says which part and why."""
    model = world.script(
        call("process", action="start", id="sh", command="bash", pty=True),
        call("process", action="input", id="sh", text="echo $((40 + 2)) > out.txt; cat out.txt\n"),
        call("process", action="input", id="sh", text="git push origin main\n"),
        call("process", action="input", id="sh", text="git pu"),
        call("process", action="input", id="sh", text="sh\n"),
        call("process", action="list"),
        {"text": "done"},
    )
    ended = world.run("run", "hi", "-m", model, *TOOLS, "--json", "--approve", "deny")
    results = ended.of("tool_end")

    assert ended.code == 0, ended.err
    assert "\n42\n" in results[1]["output"]
    assert [result["is_error"] for result in results] == [False, False, True, False, True, False]
    assert "publishes" in results[2]["output"]
    assert "sh: bash (pty), is running" in results[5]["output"]
    assert world.run("apply").code == 0
    assert (world.project / "out.txt").read_text() == "42\n"
