"""``glovebox run`` from the outside: answers, events, exit codes, changes."""

import json
import subprocess

import pytest

from tests.support.world import bash, call

pytestmark = pytest.mark.docker


def test_the_answer_alone_goes_to_stdout(world):
    """Progress goes to stderr, so that the answer can be piped."""
    ended = world.run("run", "hi", "-m", world.script({"text": "hello there"}))

    assert (ended.code, ended.out) == (0, "hello there\n"), ended.err


def test_json_prints_events_and_nothing_else(world):
    """Every line is an event; the first and last are the session's."""
    model = world.script(bash("echo from-$((40+2))-the-box"), {"text": "done"})
    ended = world.run("run", "hi", "-m", model, "--json")
    kinds = [event["type"] for event in ended.events]

    assert ended.code == 0, ended.err
    assert (kinds[0], kinds[-1]) == ("session_start", "session_end")
    assert [event["seq"] for event in ended.events] == list(range(len(kinds)))
    assert "from-42-the-box" in ended.of("tool_end")[0]["output"]
    assert ended.of("session_end")[0]["answer"] == "done"


def test_a_change_waits_and_is_applied_on_request(world):
    """Nothing reaches the host before a yes; then exactly the change does."""
    model = world.script(
        call("write", path="new.txt", content="made in the box\n"),
        call("edit", path="notes.txt", edits=[{"oldText": "two", "newText": "2"}]),
        {"text": "done"},
    )
    ended = world.run("run", "hi", "-m", model)

    assert ended.code == 0, ended.err
    assert not (world.project / "new.txt").exists()
    assert "glovebox diff" in ended.err

    diff = world.run("diff")

    assert "+made in the box" in diff.out
    assert "-two" in diff.out

    applied = world.run("apply")

    assert applied.code == 0, applied.err
    assert (world.project / "new.txt").read_text() == "made in the box\n"
    assert (world.project / "notes.txt").read_text() == "one\n2\n"


def test_apply_at_the_end_applies_without_asking(world):
    """``--apply`` is the yes."""
    model = world.script(call("write", path="a/b.txt", content="x"), {"text": "done"})
    ended = world.run("run", "hi", "-m", model, "--apply")

    assert ended.code == 0, ended.err
    assert (world.project / "a/b.txt").read_text() == "x"


def test_discard_drops_the_changes(world):
    """After it, there is nothing to apply and no volume left."""
    world.run("run", "hi", "-m", world.script(call("write", path="n", content="x"), {"text": "."}))
    dropped = world.run("discard", world.session())

    assert dropped.code == 0, dropped.err
    assert world.run("diff").code != 0
    assert not list((world.state / "work").glob("*"))


def test_an_ask_that_nobody_answers_is_denied_and_the_run_goes_on(world):
    """The model is told, and may find another way."""
    model = world.script(
        bash("git push origin main"),
        {"text": "could not push", "expect": {"last_tool_output_contains": "nobody"}},
    )
    ended = world.run("run", "hi", "-m", model, "--json")

    assert ended.code == 0, ended.err
    assert ended.of("decision")[0]["answered_by"] == "nobody"
    assert ended.of("tool_end")[0]["is_error"]


def test_on_ask_stop_ends_with_three_and_can_be_resumed(world):
    """The session waits for somebody who can answer."""
    model = world.script(bash("git push origin main"), {"text": "later"})
    ended = world.run("run", "hi", "-m", model, "--on-ask", "stop", "--json")

    assert ended.code == 3
    assert ended.of("session_end")[0]["status"] == "needs_approval"

    resumed = world.run("run", "--continue", "-m", model)

    assert (resumed.code, resumed.out) == (0, "later\n"), resumed.err


def test_a_recorded_answer_lets_exactly_that_command_run(world):
    """The file's yes is for one command, and the audit says who answered."""
    answers = world.root / "answers.yaml"
    answers.write_text(
        'version: 1\nanswers:\n- {command: "rm -rf build && echo gone", answer: "yes"}\n'
    )
    (world.project / "build").mkdir()
    (world.project / "build/x").write_text("x")
    model = world.script(bash("rm -rf build && echo gone"), bash("rm -rf ."), {"text": "done"})
    ended = world.run("run", "hi", "-m", model, "--approve", str(answers), "--json")
    first, second = ended.of("tool_end")

    assert first["output"].strip() == "gone"
    assert second["is_error"]
    assert [d["answered_by"] for d in ended.of("decision")] == ["file", "file"]


def test_yolo_answers_but_never_what_cannot_be_read(world):
    """A blanket yes is recorded, and opaque commands are not its business."""
    model = world.script(
        bash("mkdir d && rm -rf d && echo gone"),
        bash("$(echo bHM= | base64 -d)"),
        {"text": "done"},
    )
    ended = world.run("run", "hi", "-m", model, "--yolo", "--json")
    first, second = ended.of("tool_end")

    assert first["output"].strip() == "gone", ended.err
    assert ended.of("decision")[0]["answered_by"] == "yolo"
    assert second["is_error"]


def test_a_step_limit_ends_with_four_and_one_conclusion(world):
    """The model is asked once, without tools."""
    turns = [bash(f"echo {n}") for n in range(5)]
    model = world.script(*turns, conclusion=["half done"])
    ended = world.run("run", "hi", "-m", model, "--max-steps", "2")

    assert (ended.code, ended.out) == (4, "half done\n"), ended.err


def test_going_in_circles_ends_with_four(world):
    """The same call with the same result three times is told the model; once more is enough."""
    model = world.script(*[bash("echo same")] * 9, conclusion=["stuck"])
    ended = world.run("run", "hi", "-m", model, "--json")

    assert ended.code == 4, ended.err
    assert ended.of("limit")[0]["kind"] == "repetition"
    assert len(ended.of("tool_end")) == 4


def test_a_script_that_runs_out_fails_the_run(world):
    """No answer is made up."""
    ended = world.run("run", "hi", "-m", world.script(bash("echo 1")))

    assert ended.code == 1
    assert "script" in ended.err


def test_a_provider_that_stays_down_ends_with_six(world):
    """Retries are shown, and then it is over."""
    error = {"error": {"status": 400, "type": "invalid_request_error"}}
    ended = world.run("run", "hi", "-m", world.script(error, {"text": "never"}))

    assert ended.code == 6, ended.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["run"], 2),
        (["run", "x", "--no-such-flag"], 2),
        (["run", "x", "-m", "scripted:missing.yaml"], 7),
        (["run", "x", "-m", "anthropic/claude-sonnet-5-5", "--policy", "nonesuch"], 7),
        (["run", "x", "-m", "scripted:s", "-C", "nowhere"], 2),
        (["run", "x", "-m", "anthropic/claude-sonnet-5-5"], 7),
    ],
)
def test_a_wrong_command_line_says_so_with_its_code(world, arguments, code):
    """Each kind of mistake has its exit code, and no traceback for people."""
    ended = world.run(*arguments, env={"GLOVEBOX_DEBUG": None})

    assert ended.code == code, ended.err
    assert "Traceback" not in ended.err


def test_an_engine_that_does_not_answer_ends_with_five(world):
    """The message names what to do."""
    model = world.script({"text": "x"})
    ended = world.run("run", "x", "-m", model, env={"DOCKER_HOST": "unix:///nonexistent.sock"})

    assert ended.code == 5
    assert "\n  " in ended.err


def test_a_malformed_call_is_told_to_the_model_and_never_runs(world):
    """A call cut by the output limit touches nothing."""
    cut = {
        "tool_calls": [{"name": "write", "raw_arguments": '{"path": "x", "content": "ha'}],
        "stop_reason": "max_tokens",
    }
    broken = {"tool_calls": [{"name": "bash", "raw_arguments": "[1]"}]}
    ended = world.run("run", "x", "-m", world.script(cut, broken, {"text": "sorry"}), "--json")

    assert ended.code == 0, ended.err
    assert "not a JSON object" in ended.of("tool_end")[0]["output"]
    assert ended.of("workspace")[0]["changed"] == []


def test_the_audit_of_a_run_is_intact_and_closed(world):
    """The chain holds from the first record to the signed end."""
    world.run("run", "x", "-m", world.script(bash("echo 1"), {"text": "."}))
    ended = world.run("audit", "verify", world.session(), "--require-closed")

    assert ended.code == 0, ended.err
    assert "intact, closed" in ended.out


def test_a_changed_record_is_named(world):
    """One flipped byte is found, and where."""
    world.run("run", "x", "-m", world.script(bash("echo 1"), {"text": "."}))
    path = world.state / "audit" / f"{world.session()}.jsonl"
    lines = path.read_text().splitlines()
    lines[2] = lines[2].replace('"type":"', '"type":"x', 1)
    path.write_text("\n".join(lines) + "\n")
    ended = world.run("audit", "verify", str(path))

    assert ended.code == 7
    assert "broken at seq 2" in ended.out + ended.err


def test_no_container_is_left_after_a_run(world):
    """The box goes with the run."""
    world.run("run", "x", "-m", world.script(bash("sleep 300 & echo bg"), {"text": "."}))
    listed = subprocess.run(
        ["docker", "ps", "-aq", "--filter", f"label=glovebox.session={world.session()}"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert listed.stdout == ""


def test_workspace_none_shows_nothing_of_the_directory(world):
    """The agent works in an empty place."""
    model = world.script(bash("ls -A | wc -l"), {"text": "."})
    ended = world.run("run", "x", "-m", model, "--workspace", "none", "--json")

    assert ended.of("tool_end")[0]["output"].strip() == "0", ended.err
    assert json.dumps(ended.of("workspace")[0]["changed"]) == "[]"


def test_what_is_brought_along_is_there_and_on_record(world):
    """Variables and further directories reach the commands; the audit names both."""
    library = world.root / "lib"
    library.mkdir(mode=0o755)
    (library / "a.txt").write_text("from the library\n")
    model = world.script(
        bash("echo $MODE; cat /dirs/lib/a.txt"), call("read", path="/dirs/lib/a.txt"), {"text": "."}
    )
    ended = world.run(
        "run", "x", "-m", model, "--env", "MODE=debug", "--add-dir", str(library), "--json"
    )

    command, read = ended.of("tool_end")
    assert command["output"] == "debug\nfrom the library", ended.err
    assert "from the library" in read["output"]
    brought = {"env": ["MODE"], "add_dirs": [str(library)]}
    assert brought.items() <= ended.of("session_start")[0]["workspace"].items()
    log = (world.state / "audit" / f"{world.session()}.jsonl").read_text().splitlines()
    assert brought.items() <= json.loads(log[1])["body"].items()
    assert "debug" not in log[1]


def test_home_stays_for_the_projects_next_session(world):
    """Under the everyday policy; under a closed one each session has its own."""
    write = world.script(bash("echo cached > ~/.cache-test"), {"text": "."}, name="w.yaml")
    read = world.script(bash("cat ~/.cache-test"), {"text": "."}, name="r.yaml")
    world.run("run", "x", "-m", write)

    assert world.run("run", "x", "-m", read, "--json").of("tool_end")[0]["output"] == "cached"
    closed = world.run("run", "x", "-m", read, "--json", "--policy", "untrusted-repo")
    assert "No such file" in closed.of("tool_end")[0]["output"]

    listed = json.loads(world.run("home", "list", "--json").out)["homes"]
    assert str(world.project) in [home["project"] for home in listed]
    assert world.run("home", "rm").code == 0
    assert world.run("home", "rm").code == 2
    assert "No such file" in world.run("run", "x", "-m", read, "--json").of("tool_end")[0]["output"]


def test_service_of_the_policy_is_beside_the_box(world):
    """Reached by name of the loopback, named in the audit, gone at the end."""
    policy = world.root / "p.yaml"
    policy.write_text(
        "version: 1\nname: p\nextends: [default]\nservices: {web: {image: glovebox/sandbox:latest,"
        " command: [python3, -m, http.server, '8099', --directory, /etc], port: 8099}}\n"
    )
    model = world.script(bash("curl -s http://127.0.0.1:8099/hostname"), {"text": "."})
    ended = world.run("run", "x", "-m", model, "--policy", str(policy), "--json")

    assert ended.of("tool_end")[0]["details"]["exit_code"] == 0, ended.err
    assert set(ended.of("session_start")[0]["workspace"]["services"]) == {"web"}
    left = subprocess.run(
        ["docker", "ps", "-aq", "--filter", f"label=glovebox.session={world.session()}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert left.stdout == ""


def test_run_that_changes_nothing_leaves_no_workspace(world):
    """Nothing waits and there is nothing to go back to, in a copy too."""
    world.run("run", "x", "-m", world.script(bash("echo 1"), bash("cat notes.txt"), {"text": "."}))

    assert list((world.state / "work").glob("*")) == []
