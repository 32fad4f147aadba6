import pytest

from orchestrator.schema.request import ProcessInput, ProcessSignal, ProcessStart
from tests.support.processes import Started, listed, look

pytestmark = pytest.mark.docker


def test_server_is_reached_by_a_later_call(stage):
    """It is waited for, answers on the box's loopback, and its log is read since then."""

    async def scene(scene):
        web = Started(scene, "web")
        began = await web.start(
            "python3 -u -m http.server 8123 --bind 127.0.0.1", look("^Serving HTTP on .* port 81")
        )
        page = await scene.output("echo found > page.txt; curl -s http://127.0.0.1:8123/page.txt")
        seen = await web.output(look("GET"))
        ended = await web.signal("INT")
        return began, page, seen, ended

    began, page, seen, ended = stage.play(scene)

    assert (began["why"], began["running"]) == ("match", True)
    assert page == "found\n"
    assert '"GET /page.txt HTTP/1.1" 200' in seen["text"]
    assert "Serving" not in seen["text"]
    assert (ended["why"], ended["running"], ended["exit_code"]) == ("ended", False, 0)


def test_interpreter_at_a_terminal_is_typed_into(stage):
    """It prompts, since it has a terminal, and what it printed last is told alone."""

    async def scene(scene):
        repl = Started(scene, "py")
        await repl.start("python3 -q", look(">>> "), terminal=True)
        await repl.type("x = 6 * 7\n", look(">>> "))
        printed = await repl.type("print('is', x)\n", look("^is 42$"))
        ended = await repl.type("", look(), eof=True)
        return printed, ended

    printed, ended = stage.play(scene)

    assert printed["why"] == "match"
    assert "is 42" in printed["text"]
    assert "6 * 7" not in printed["text"]
    assert (ended["running"], ended["exit_code"]) == (False, 0)


def test_input_ends_where_that_is_asked_for(stage):
    """A program without a terminal reads to the end."""

    async def scene(scene):
        counting = Started(scene)
        await counting.start("wc -c")
        return await counting.type("four", look(), eof=True)

    found = stage.play(scene)

    assert (found["text"].strip(), found["exit_code"]) == ("4", 0)


async def sleepers(scene, prefix, wanted):
    """Wait until so many sleep: a fork is not yet its program, one that was signalled not yet gone.

    Returns how many do in the end.
    """
    count = f"pgrep -fc '^sleep {prefix}'"
    looks = f'for look in $(seq 400); do [ "$({count})" = {wanted} ] && break; sleep 0.05; done'
    return await scene.output(f"{looks}; {count} || true")


def test_signal_reaches_the_whole_tree(stage):
    """Children in sessions of their own as well."""

    async def scene(scene):
        tree = Started(scene)
        await tree.start("setsid sleep 930 & (sleep 931 &) ; sleep 932")
        before = await sleepers(scene, "93", 3)
        ended = await tree.signal("KILL")
        return before, ended, await scene.output("pgrep -fa '^sleep 93' || echo none")

    before, ended, left = stage.play(scene)

    assert before == "3\n"
    assert (ended["running"], ended["signal"]) == (False, 9)
    assert left == "none\n"


def test_signal_reaches_what_outlived_its_starter(stage):
    """A handle stays good for the children of a process that has ended."""

    async def scene(scene):
        gone = Started(scene)
        began = await gone.start("sleep 940 & exit 3", look())
        before = await sleepers(scene, "94", 1)
        await gone.signal("TERM")
        await sleepers(scene, "94", 0)
        return began, before, await scene.output("pgrep -fa '^sleep 94' || echo none")

    began, before, left = stage.play(scene)

    assert (began["running"], began["exit_code"]) == (False, 3)
    assert before == "1\n"
    assert left == "none\n"


def test_flood_is_kept_in_bounded_memory_and_its_loss_told(stage):
    """The newest is there; what is gone is counted."""

    async def scene(scene):
        flood = Started(scene)
        ended = await flood.start("seq 1000000; echo last", look())
        oldest = await flood.output(look(wait_s=0.0, since=0, max_bytes=1000))
        memory = await scene.output("grep VmRSS /proc/$(pgrep -f opt/glovebox | head -1)/status")
        return ended, oldest, memory

    ended, oldest, memory = stage.play(scene)

    assert ended["text"].endswith("999999\n1000000\nlast\n")
    assert ended["next"] == 6_888_896 + 5
    assert ended["skipped"] + ended["lost"] + len(ended["text"]) == ended["next"]
    assert oldest["lost"] == oldest["start"] >= ended["next"] - 1.5 * 1024 * 1024 - 1
    assert oldest["more"] > 0
    assert int(memory.split()[1]) < 40_000


def test_no_more_than_sixteen_run_at_a_time(stage):
    """The next is refused, and there is room again when one has ended."""

    async def scene(scene):
        many = [Started(scene, f"p{number}") for number in range(17)]
        for one in many[:16]:
            await one.start("sleep 900", look(wait_s=0.0))
        refused = await scene.box.execute(ProcessStart("true", "/workspace", "p16"))
        await many[0].signal("KILL")
        await many[16].start("sleep 900", look(wait_s=0.0))
        return refused, await listed(scene)

    refused, found = stage.play(scene)

    assert refused.code == "unavailable"
    assert sum(item["running"] for item in found) == 16


def test_ended_ones_are_forgotten_in_their_order(stage):
    """The output of the newest sixteen is kept."""

    async def scene(scene):
        for number in range(20):
            await Started(scene, f"p{number}").start(f"echo {number}", look())
        return await listed(scene), await Started(scene, "p4").output(look(wait_s=0.0, since=0))

    found, oldest = stage.play(scene)

    assert [item["handle"] for item in found] == [f"p{number}" for number in range(4, 20)]
    assert oldest["text"] == "4\n"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (ProcessStart("true", "/missing", "p1", look=look()), "/missing: No such file"),
        (ProcessStart("x" * 140_000, "/workspace", "p1"), "131071 at most"),
        (ProcessInput("p9", "x\n"), "no such process"),
        (ProcessSignal("p9", "TERM"), "no such process"),
    ],
    ids=["directory", "long", "input", "signal"],
)
def test_what_cannot_be_done_is_refused_in_words(stage, request_, words):
    """And nothing is left of it."""

    async def scene(scene):
        return await scene.box.execute(request_), await listed(scene)

    refused, found = stage.play(scene)

    assert words in (refused.error or "")
    assert found == []


def test_handle_is_free_again_once_its_process_ended(stage):
    """The new one's output is its own."""

    async def scene(scene):
        one = Started(scene)
        await one.start("echo first", look())
        return await one.start("echo second", look())

    assert stage.play(scene)["text"] == "second\n"


def test_processes_end_with_their_box(stage):
    """Stopping the session takes them along."""

    async def scene(scene):
        await Started(scene).start("trap '' TERM HUP INT; sleep 950")
        return scene.container()["Id"]

    container = stage.play(scene)

    assert container not in [item["Id"] for item in stage.engine.api.containers(all=True)]
