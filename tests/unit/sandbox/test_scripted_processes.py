import anyio

from orchestrator.sandbox.scripted_processes import MemoryProcesses
from orchestrator.schema.request import (
    Look,
    ProcessInput,
    ProcessList,
    ProcessOutput,
    ProcessSignal,
    ProcessStart,
)


def started(output="", exit_code=None):
    processes = MemoryProcesses()
    assert processes.start(ProcessStart("x", "/w", "a"), output, exit_code) is None
    return processes


def ask(processes, request):
    return anyio.run(processes.handle, request)


def test_one_that_ended_says_how():
    """At once, whatever is waited for."""
    found = ask(started("bye\n", 3), ProcessOutput("a", Look(60.0, pattern="never"))).data

    assert (found["text"], found["exit_code"], found["why"]) == ("bye\n", 3, "ended")


def test_answers_go_on_where_the_last_one_ended():
    """Within the size that was asked for."""
    processes = started("hüllo\n")
    first = ask(processes, ProcessOutput("a", Look(max_bytes=3))).data
    rest = ask(processes, ProcessOutput("a")).data

    assert (first["text"], first["more"]) == ("hü", 4)
    assert (rest["text"], rest["start"]) == ("llo\n", 3)


def test_input_comes_back_until_its_end():
    """The end of the input is the end of the process."""
    processes = started()
    told = ask(processes, ProcessInput("a", "one\n", look=Look(60.0, quiet_s=1.0))).data
    last = ask(processes, ProcessInput("a", "two\n", eof=True)).data

    assert (told["text"], told["why"]) == ("one\n", "quiet")
    assert (last["text"], last["exit_code"]) == ("two\n", 0)


def test_signal_ends_it_unless_it_is_harmless():
    """And the list tells both."""
    processes = started()
    ask(processes, ProcessSignal("a", "STOP"))
    before = ask(processes, ProcessList()).data["processes"][0]
    ask(processes, ProcessSignal("a", "HUP"))
    after = ask(processes, ProcessList()).data["processes"][0]

    assert (before["running"], after["running"], after["signal"]) == (True, False, 1)
