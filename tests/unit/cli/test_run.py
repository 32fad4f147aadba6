"""``glovebox run``: what it wants, where things go, what it ends with."""

import io
import json
import subprocess

import pytest

from orchestrator.cli.run import read_prompt
from orchestrator.errors import UsageError
from tests.support.world import GLOVEBOX, bash, call

COPY = ["--output-last-message"]


def test_prompt_is_the_argument():
    """stdin is left alone."""
    assert read_prompt("do it", resuming=False) == "do it"


def test_dash_reads_stdin(monkeypatch):
    """Only then."""
    monkeypatch.setattr("sys.stdin", io.StringIO("from a pipe\n"))

    assert read_prompt("-", resuming=False) == "from a pipe\n"


def test_no_prompt_is_needed_to_go_on():
    """A resumed session has its conversation."""
    assert read_prompt(None, resuming=True) is None
    with pytest.raises(UsageError):
        read_prompt(None, resuming=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "x"], "no model is chosen"),
        (["run", "-m", "scripted:x"], "expected a prompt"),
        (["run", "x", "-m", "scripted:x", "--max-time", "30"], "--max-time"),
        (["run", "x", "-m", "scripted:x", "-C", "notes.txt"], "expected a directory"),
        (["run", "x", "-m", "scripted:x", "--max-steps", "0"], "--max-steps"),
        (["run", "x", "-m", "scripted:x", "--on-ask", "maybe"], "--on-ask"),
        (["run", "x", "-m", "scripted:x", "--workspace", "magic"], "--workspace"),
        (["run", "x", "-m", "scripted:x", *COPY, "no/where/x"], "written: No such file"),
        (["run", "x", "-m", "scripted:x", *COPY, "notes.txt/x"], "written: Not a dir"),
        (["run", "x", "-m", "scripted:x", *COPY, "."], "written: Is a dir"),
        (["run", "x", "-m", "scripted:x", *COPY, "/proc/x"], "written: "),
        (["run", "x", "-m", "scripted:x", "--tools", "raed"], "--tools: unknown tool 'raed', did"),
        (["run", "x", "-m", "scripted:x", "--tools", ""], "--tools: unknown tool ''"),
    ],
)
def test_wrong_command_line_ends_with_two_and_opens_nothing(world, arguments, words):
    """What is wrong is named; nothing is written, nothing waits on stdin."""
    ended = world.run(*arguments, env={"GLOVEBOX_DEBUG": None})

    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
    assert not world.state.exists()


def test_wrong_configuration_ends_with_seven(world):
    """The file is named."""
    config = world.root / "config"
    config.mkdir()
    (config / "config.yaml").write_text("modle: x\n")
    ended = world.run("run", "x", env={"GLOVEBOX_DEBUG": None})

    assert ended.code == 7
    assert "did you mean 'model'?" in ended.err


@pytest.mark.docker
@pytest.mark.usefixtures("image")
def test_settings_of_the_environment_reach_the_run(world):
    """Without a flag: model, tools and policy by variable."""
    model = world.script({"text": "hello"})
    environ = {"GLOVEBOX_MODEL": model, "GLOVEBOX_TOOLS": "read", "GLOVEBOX_POLICY": "strict"}
    ended = world.run("run", "x", "--json", env=environ)

    assert ended.code == 0, ended.err
    assert ended.of("session_start")[0]["policy"]["name"] == "strict"


@pytest.mark.docker
@pytest.mark.usefixtures("image")
def test_print_gives_the_answer_alone_and_to_the_file_too(world):
    """stdin as prompt, nothing on stderr, one copy where it was asked for."""
    model = world.script(bash("echo hi"), {"text": "the answer"})
    copy = world.root / "answer.txt"
    ended = world.run("run", "-", "-p", "-m", model, "--output-last-message", str(copy), stdin="go")

    assert (ended.code, ended.out, ended.err) == (0, "the answer\n", "")
    assert copy.read_text() == "the answer"


@pytest.mark.docker
@pytest.mark.usefixtures("image")
def test_copy_that_fails_in_the_end_does_not_cost_the_work(world):
    """The answer is printed and the changes are applied; the exit code tells."""
    model = world.script(call("write", path="made", content="x"), {"text": "the answer"})
    ended = world.run("run", "x", "-p", "--apply", "-m", model, *COPY, "/dev/full")

    assert (ended.code, ended.out) == (1, "the answer\n")
    assert "--output-last-message /dev/full: No space left" in ended.err
    assert (world.project / "made").read_text() == "x"


@pytest.mark.docker
@pytest.mark.usefixtures("image")
def test_json_prints_only_json_lines_whatever_the_box_prints(world):
    """Control characters, half characters, separators: every line is strict JSON."""
    odd = r"printf 'a\xe2\x80\xa8b\x1b[31m\x9b\xff\r\nlast'"
    surrogate = {"tool_calls": [{"name": "bash", "raw_arguments": '{"command": "\\ud83d"}'}]}
    number = {"tool_calls": [{"name": "bash", "raw_arguments": '{"command": "x", "timeout": NaN}'}]}
    ended = world.run(
        "run", "x", "--json", "-m", world.script(bash(odd), surrogate, number, {"text": "."})
    )

    events = [json.loads(line, parse_constant=pytest.fail) for line in ended.out.split("\n")[:-1]]
    assert ended.code == 0, ended.err
    assert events[-1]["type"] == "session_end"
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert "last" in next(e["output"] for e in events if e["type"] == "tool_end")


@pytest.mark.docker
@pytest.mark.usefixtures("image")
def test_reader_that_goes_away_does_not_end_the_work(world):
    """The run ends in order: its chain is closed, its change waits."""
    model = world.script(bash("seq 3"), call("write", path="made", content="x"), {"text": "done"})
    process = world.start("run", "x", "-m", model, "--json")
    process.stdout.readline()
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()

    assert process.wait(timeout=60) == 0, told
    verified = world.run("audit", "verify", world.session(), "--require-closed")
    assert verified.code == 0, verified.err
    assert "made" in world.run("diff").out
    subprocess.run(
        [GLOVEBOX, "discard", world.session()],
        env=world.env(),
        check=True,
        capture_output=True,
        cwd=world.project,
    )
