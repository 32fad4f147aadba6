"""Programs that work in a box, from the outside: pipes, terminals, exit codes, records."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.world import GLOVEBOX

pytestmark = pytest.mark.docker


def piped(world, *words, data=b""):
    return subprocess.run(
        [GLOVEBOX, "wrap", "-p", "--", *words],
        cwd=world.project,
        env=world.env(),
        input=data,
        capture_output=True,
        check=False,
        timeout=100,
    )


def test_script_gets_the_programs_own_bytes_and_code(world):
    """Input, output and errors as they are, changes that wait, a chain that names it."""
    script = "cat; printf '\\377' >&2; echo made > new.txt; exit 7"
    ended = piped(world, "sh", "-c", script, data=b"in\0put\xfe")

    assert (ended.returncode, ended.stdout) == (7, b"in\0put\xfe")
    assert b"\xff" in ended.stderr
    assert not (world.project / "new.txt").exists()
    assert world.run("diff", world.session()).out.count("new.txt") > 0
    [intent], [outcome] = world.records("intent"), world.records("outcome")
    assert intent["argv"] == ["sh", "-c", script]
    assert (intent["tool"], outcome["tool"]) == ("wrap", "wrap")
    assert outcome["facts"]["exit_code"] == 7
    assert outcome["facts"]["stdin"]["bytes"] == len(b"in\0put\xfe")
    assert "cat" in {program["argv"][0] for program in outcome["programs"]}
    [end] = world.records("session_end")
    assert (end["status"], end["exit_code"], end["changed"]) == ("failed", 7, 1)
    verified = world.run("audit", "verify", world.session(), "--require-closed")
    assert verified.code == 0, verified.err


def test_words_after_the_program_are_its_own(world):
    """Without -- too: nothing of it is taken for an option of ours."""
    ended = world.run("wrap", "printf", "%s\n", "-p", "--json", "--", "$HOME", "a b")

    assert ended.code == 0, ended.err
    assert ended.out == "-p\n--json\n--\n$HOME\na b\n"


def test_what_it_cannot_do_without_being_seen_is_said(world):
    """Events, banner and chain: the gate sees the start alone."""
    ended = world.run("wrap", "--json", "--", "sh", "-c", "echo out; echo err >&2")
    banner = world.run("wrap", "--", "true").err

    [start] = ended.of("session_start")
    assert "only the program's start is judged" in start["posture"]["facts"]["gate"]
    assert start["model"] == "none"
    said = dict.fromkeys(("stdout", "stderr"), "")
    for event in ended.of("program_output"):
        said[event["source"]] += event["text"]
    assert said == {"stdout": "out\n", "stderr": "err\n"}
    assert "only the program's start is judged" in banner


@pytest.mark.parametrize(
    ("policy", "words", "told"),
    [
        ("tools: {wrap: deny}", ["true"], "tools.wrap is deny"),
        ("tools: {bash: deny}", ["true"], "tools.bash is deny"),
        ("commands: {rules: [{id: no-env, program: env, effect: deny, reason: not here}]}",
         ["env", "true"], "not here"),
        ("", ["git", "push"], "nobody could be asked"),
    ],
)  # fmt: skip
def test_program_that_policy_refuses_does_not_start(world, policy, words, told):
    """By the name of the tool, by a rule, by a question that nobody answers."""
    path = world.root / "own.yaml"
    path.write_text(f"version: 1\nname: own\nextends: [default]\n{policy}\n")
    ended = world.run("wrap", "--policy", str(path), "--", *words)

    assert ended.code == 1
    assert told in ended.err
    assert len(world.records("refused")) == 1
    assert world.records("intent", "outcome") == []
    assert world.records("session_end")[0]["status"] == "failed"


def test_hidden_push_is_seen_and_may_end_it(world):
    """The text shows a script; what the script starts is told, or ends all of it."""
    (world.project / "release.sh").write_text("git push origin HEAD; sleep 30; touch after\n")
    told = world.run("wrap", "--json", "--max-time", "3s", "--", "sh", "release.sh")
    path = world.root / "own.yaml"
    path.write_text("version: 1\nname: own\nextends: [default]\ncommands: {unexpected: end}\n")
    ended = world.run("wrap", "--json", "--policy", str(path), "--", "sh", "release.sh")

    [seen] = told.of("unexpected_exec")
    assert seen["argv"][:2] == ["git", "push"]
    assert told.code == 4
    assert ended.code == 1
    assert "git push" in ended.of("error")[-1]["message"]
    assert [row["path"] for row in ended.of("workspace")[0]["changed"]] == []


def test_time_is_over_at_the_limit(world):
    """With what was done until then."""
    ended = world.run("wrap", "--json", "--max-time", "2s", "--", "sh", "-c", "touch a; sleep 60")

    assert ended.code == 4
    assert ended.of("limit")[0]["kind"] == "wall_time"
    assert ended.of("session_end")[0]["status"] == "limit"
    assert [row["path"] for row in ended.of("workspace")[0]["changed"]] == ["a"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_ends_it_in_order(world, number, code):
    """The program is asked first, its changes are kept, no box is left."""
    script = "trap 'touch asked; exit 0' TERM; echo up; while :; do sleep 0.1; done"
    process = world.start("wrap", "-p", "--", "sh", "-c", script)
    assert process.stdout.readline() == "up\n"
    process.send_signal(number)
    process.communicate(timeout=60)

    assert process.returncode == code
    assert "asked" in world.run("diff", world.session()).out
    assert world.records("session_end")[0]["status"] == "interrupted"
    assert world.records("outcome")[0]["facts"]["reason"] == "cancelled"


def test_session_can_be_taken_up_and_rewound(world):
    """The next program works on in the same files; each run is a turn to go back to."""
    first = piped(world, "sh", "-c", "echo one > a")
    again = world.run("wrap", "-p", "--continue", "--", "sh", "-c", "cat a; echo two > a")
    listed = world.run("rewind", "--list")
    back = world.run("rewind", "1")
    third = world.run("wrap", "-p", "--continue", "--", "cat", "a")

    assert (first.returncode, again.out) == (0, "one\n"), again.err
    assert [line.split()[0] for line in listed.out.splitlines()] == ["0", "1", "2"]
    assert back.code == 0, back.err
    assert third.out == "one\n", third.err
    assert len(world.records("session_start")) == 3


def test_terminal_is_the_programs_and_its_changes_are_asked_about(world, sit):
    """It sees a terminal of the right size, Ctrl-C is its own, all is recorded."""
    script = "trap 'echo caught > caught' INT; stty size; echo ready; read line; exit 5"
    seat = sit("wrap", "--", "bash", "-c", script, size=(70, 20))
    seat.until("20 70")
    seat.type("\x03")
    seat.type("go\r")
    seat.until("apply these changes")
    seat.type("y\r")

    assert seat.ended() == 5
    assert (world.project / "caught").read_text() == "caught\n"
    [start], [end] = world.records("terminal_start"), world.records("terminal_end")
    assert (start["who"]["via"], end["exit_code"]) == ("wrap", 5)
    cast = Path(start["recording"]).read_text()
    assert "20 70" in cast


def test_leaving_the_terminal_ends_the_program(world, sit):
    """And says so by the code."""
    seat = sit("wrap", "--", "sh", "-c", "echo up; sleep 100")
    seat.until("up")
    seat.type("\x1d")

    assert seat.ended() == 130
    assert world.records("session_end")[0]["status"] == "interrupted"


ASKING = """#!/bin/bash
echo before
call='{"tool_name":"bash","tool_input":{"command":"git push origin main"}}'
printf '%s' "$call" | /opt/glovebox/toolserver/glovebox-gate pi > answer
echo "code $?"; read line; echo "read $line"; exit 0
"""


def test_question_takes_the_screen_and_gives_it_back(world, sit):
    """A client's call is asked about over the program; what is typed then is the answer's alone."""
    client = world.project / "pi"
    client.write_text(ASKING)
    client.chmod(0o755)
    seat = sit("wrap", "--", "./pi")
    seat.until("git push origin main")
    seat.until("publishes")
    seat.type("yes\r")
    seat.until("code 0")
    assert "before" in seat.text()
    seat.type("typed\r")
    seat.until("read typed")
    seat.until("apply these changes")
    seat.type("n\r")

    assert seat.ended() == 0
    [call] = world.records("client_call")
    assert (call["allowed"], call["answer"]["by"]) == (True, "terminal")
    [end] = world.records("terminal_end")
    assert end["bytes_typed"] == len("typed\r")


def test_no_is_the_answer_of_a_person_who_leaves_the_question(world, sit):
    """Ctrl-C there is a no, and goes to nobody else."""
    client = world.project / "pi"
    client.write_text(ASKING)
    client.chmod(0o755)
    seat = sit("wrap", "--", "./pi")
    seat.until("publishes")
    seat.type("\x03")
    seat.until("code 2")
    seat.type("\x1d")
    seat.until("apply these changes")
    seat.type("n\r")

    assert seat.ended() == 130
    assert world.records("client_call")[0]["allowed"] is False
