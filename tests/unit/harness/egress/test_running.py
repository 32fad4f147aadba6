from orchestrator.harness.egress.running import RunningCalls
from orchestrator.schema.event import ToolEnd, ToolStart, TurnStart


def ended(call):
    return ToolEnd(call, "bash", is_error=False, output="", details={}, duration_ms=1.0)


def test_knows_the_call_that_runs():
    seen = []
    running = RunningCalls(seen.append)
    running(ToolStart("c1", "bash", {"command": "npm test"}))

    assert running.only == "c1"
    assert running.lines() == ("while this runs: bash npm test",)
    assert len(seen) == 1


def test_names_none_as_the_one_where_several_run():
    running = RunningCalls(lambda _: None)
    running(ToolStart("c1", "bash", {"command": "a"}))
    running(ToolStart("c2", "read", {"path": "b"}))

    assert running.only == ""
    assert len(running.lines()) == 2


def test_says_so_where_no_call_runs():
    running = RunningCalls(lambda _: None)
    running(ToolStart("c1", "bash", None))
    running(TurnStart(1))
    running(ended("c1"))
    running(ended("c9"))

    assert running.only == ""
    assert "no call runs" in running.lines()[0]
