"""Questions answered from elsewhere: stopped, restarted, replayed, revoked, expired, raced."""

import json
import signal
import time

import pytest
import yaml

from tests.support.receiver import SHARED, Back, receiving, reply_to, says, signed
from tests.support.terminals import Seat
from tests.support.world import bash

pytestmark = pytest.mark.docker

PUSH = "rm -rf build && echo gone >> /workspace/log"
"""Something that is asked about, and leaves a trace each time it runs."""
DONE = {"text": "done"}


@pytest.fixture(autouse=True)
def build(world):
    (world.project / "build").mkdir()
    (world.project / "build/x").write_text("x")


def stopped(world, model):
    """Run until the question that nobody answers; return its row."""
    ended = world.run("run", "hi", "-m", model, "--on-ask", "stop", "--json")
    assert ended.code == 3, ended.err
    assert ended.of("session_end")[0]["status"] == "needs_approval"
    (row,) = waiting(world)
    assert f"glovebox approvals answer {row['question']['id']}" in ended.err
    return row["question"]


def waiting(world):
    return json.loads(world.run("approvals", "list", "--json").out)["questions"]


def until_waiting(world, seconds=60):
    end = time.monotonic() + seconds
    while not (rows := waiting(world)):
        assert time.monotonic() < end, "no question came"
        time.sleep(0.2)
    return rows[0]["question"]


def answer(world, asked, word, *more):
    ended = world.run("approvals", "answer", asked["id"], word, *more)
    assert ended.code == 0, ended.err


def resume(world, asked, model, *more):
    return world.run("run", "--resume", asked["session"], "-m", model, "--json", *more)


def records(world, session, *kinds):
    lines = (world.state / "audit" / f"{session}.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row["type"] in kinds]


def log_of(world, asked):
    """Return what the session's log says now, as a diff shows it."""
    return world.run("diff", asked["session"]).out.count("+gone")


def test_stopped_run_goes_on_with_exactly_what_was_said_yes_to(world):
    """Once: neither a second answer nor a second resume runs it again, nor what ran beside it."""
    model = world.script(
        {"tool_calls": [c["tool_calls"][0] for c in (bash("echo 1"), bash(PUSH), bash("echo 3"))]},
        DONE,
    )
    asked = stopped(world, model)
    shown = world.run("approvals", "show", asked["id"]).out
    assert PUSH in shown
    answer(world, asked, "yes")

    again = world.run("approvals", "answer", asked["id"], "no")
    assert again.code == 1
    assert "does not count" in again.err

    ended = resume(world, asked, model, "--on-ask", "stop")
    assert ended.code == 0, ended.err
    kinds = [event["type"] for event in ended.events]
    assert kinds.index("tool_start") < kinds.index("turn_start")
    assert [event["call"] for event in ended.of("tool_end")] == ["call_1_2"]
    assert ended.of("decision")[0]["answered_by"] == "inbox"
    assert log_of(world, asked) == 1

    once_more = resume(world, asked, model)
    assert once_more.of("tool_end") == []
    assert log_of(world, asked) == 1
    said = records(world, asked["session"], "approval_asked", "approval", "approval_lost")
    assert [(row["type"], row["body"].get("by")) for row in said] == [
        ("approval_asked", None),
        ("approval", "nobody"),
        ("approval_asked", None),
        ("approval", "inbox"),
        ("approval_lost", "inbox"),
    ]
    assert {row["body"]["digest"] for row in said} == {asked["digest"]}
    assert said[3]["body"]["who"]
    assert world.run("audit", "verify", asked["session"]).code == 0


def test_no_with_a_reason_reaches_the_model(world):
    """It can find another way."""
    model = world.script(
        bash(PUSH), {"text": "ok", "expect": {"last_tool_output_contains": "keep the build"}}
    )
    asked = stopped(world, model)
    answer(world, asked, "no", "--reason", "keep the build")
    ended = resume(world, asked, model)

    assert ended.code == 0, ended.err
    assert log_of(world, asked) == 0


def test_question_that_nobody_answered_stops_the_run_again(world):
    """Under the same id; and a run that need not stop goes on without it, which ends the question."""
    model = world.script(bash(PUSH), DONE)
    asked = stopped(world, model)

    assert resume(world, asked, model, "--on-ask", "stop").code == 3
    assert waiting(world)[0]["question"]["id"] == asked["id"]

    ended = resume(world, asked, model)
    assert ended.code == 0, ended.err
    assert ended.of("decision")[0]["answered_by"] == "nobody"
    assert waiting(world) == []
    assert world.run("approvals", "answer", asked["id"], "yes").code == 1


def test_answer_lifts_no_deny(world):
    """What policy denies by the time the run goes on stays denied."""
    model = world.script(bash(PUSH), DONE)
    asked = stopped(world, model)
    answer(world, asked, "yes")
    policy = world.root / "p.yaml"
    policy.write_text(
        "version: 1\nname: p\nextends: [default]\ncommands: {risks: {destructive: deny}}\n"
    )
    ended = resume(world, asked, model, "--policy", str(policy))

    assert ended.of("decision")[0]["effect"] == "deny"
    assert log_of(world, asked) == 0


def test_standing_yes_holds_in_the_project_until_it_is_revoked(world):
    """In another session, for the same call; with its provenance, and not a moment longer."""
    model = world.script(bash(PUSH), DONE)
    asked = stopped(world, model)
    answer(world, asked, "yes", "--scope", "project")
    assert resume(world, asked, model).code == 0

    ended = world.run("run", "hi", "-m", model, "--json", "--on-ask", "stop")
    assert ended.code == 0, ended.err
    assert ended.of("decision")[0]["answered_by"] == "memory"
    (grant,) = json.loads(world.run("approvals", "list", "--json").out)["approvals"]
    assert (grant["question"], grant["by"], grant["scope"]) == (asked["id"], "inbox", "project")
    (used,) = records(world, world.session(), "approval")
    assert used["body"]["grant"] == grant["id"]

    assert world.run("approvals", "revoke", grant["id"]).code == 0
    assert world.run("run", "hi", "-m", model, "--on-ask", "stop").code == 3


def test_standing_yes_expires(world):
    """Asked again after its time."""
    policy = world.root / "p.yaml"
    policy.write_text("version: 1\nname: p\nextends: [default]\napprovals: {scopes: [once, 1s]}\n")
    model = world.script(bash(PUSH), DONE)
    ended = world.run("run", "x", "-m", model, "--on-ask", "stop", "--policy", str(policy))
    assert ended.code == 3, ended.err
    asked = waiting(world)[0]["question"]
    answer(world, asked, "yes", "--scope", "1s")
    assert resume(world, asked, model, "--policy", str(policy)).code == 0
    time.sleep(1.1)

    ended = world.run("run", "x", "-m", model, "--on-ask", "stop", "--policy", str(policy))
    assert ended.code == 3, ended.err


def test_answer_counts_after_the_harness_was_killed_at_the_question(world):
    """The person answers the dead run; the session goes on, and makes the same call."""
    model = world.script(bash(PUSH), bash(PUSH), DONE)
    running = world.start("run", "hi", "-m", model, "--approve", "ask")
    asked = until_waiting(world)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    answer(world, asked, "yes")
    ended = resume(world, asked, model, "--on-ask", "stop")

    assert ended.code == 0, ended.err
    assert [event["answered_by"] for event in ended.of("decision")] == ["inbox"]
    assert log_of(world, asked) == 1


def test_denied_call_is_not_asked_about_again(world):
    """However the model writes it; a changed one is."""
    model = world.script(
        bash("rm -rf build"),
        bash("rm -fr './build/' # please"),
        bash("echo 1; bash -c 'rm -rf build'"),
        bash("rm -rf log"),
        DONE,
    )
    running = world.start("run", "hi", "-m", model, "--approve", "ask", "--json")
    first = until_waiting(world)
    answer(world, first, "no", "--reason", "never")
    while (second := until_waiting(world))["id"] == first["id"]:
        time.sleep(0.2)
    answer(world, second, "yes")
    out, err = running.communicate(timeout=60)
    events = [json.loads(line) for line in out.splitlines()]

    assert running.returncode == 0, err
    assert second["subject"] == "rm -rf log"
    said = [event["answered_by"] for event in events if event["type"] == "decision"]
    assert said == ["inbox", "memory", "memory", "inbox"]
    ends = [event["output"] for event in events if event["type"] == "tool_end"]
    assert all("never" in output for output in ends[:3])


def configure(world, receiver):
    config = {"approvals": {"webhook": {"url": receiver.url}}}
    (world.root / "config").mkdir()
    (world.root / "config" / "config.yaml").write_text(yaml.safe_dump(config))
    return {"APPROVALS_WEBHOOK_API_KEY": SHARED}


def test_webhook_answers_and_its_secret_stays_where_it_is(world):
    """The run waits for it without a flag; nothing that is written holds the secret."""
    model = world.script(bash(PUSH), DONE)
    with receiving(says("yes", who="bo")) as receiver:
        env = configure(world, receiver)
        ended = world.run("run", "hi", "-m", model, "--json", env=env)

    assert ended.code == 0, ended.err
    assert ended.of("decision")[0]["answered_by"] == "webhook"
    assert all(got.genuine for got in receiver.got)
    (said,) = records(world, world.session(), "approval")
    assert (said["body"]["who"], said["body"]["via"]) == ("bo", receiver.url)
    written = (
        ended.out
        + ended.err
        + "".join(
            path.read_text("utf-8", "replace") for path in world.state.rglob("*") if path.is_file()
        )
    )
    assert "approval_asked" in written
    assert SHARED not in written
    without = world.run("run", "hi", "-m", model)
    assert without.code == 7
    assert "approvals-webhook" in without.err


def test_forged_answer_runs_nothing(world):
    """Without another channel than the inbox, nobody answers in time: no."""
    policy = world.root / "p.yaml"
    policy.write_text("version: 1\nname: p\nextends: [default]\napprovals: {timeout: 2s}\n")
    model = world.script(bash(PUSH), DONE)
    with receiving(lambda got: signed(reply_to(got, "yes"), key="guessed")) as receiver:
        env = configure(world, receiver)
        ended = world.run("run", "x", "-m", model, "--json", "--policy", str(policy), env=env)

    assert ended.code == 0, ended.err
    assert ended.of("decision")[0]["answered_by"] == "timeout"
    assert ended.of("tool_end")[0]["is_error"]
    assert "signature is wrong" in ended.err


def test_two_channels_race_and_both_answers_are_recorded(world):
    """The inbox is first; what the webhook's person said is kept, and counts for nothing."""

    def later(got):
        return signed(reply_to(got, "no", who="bo")) if got.kind == "closed" else Back(202)

    model = world.script(bash(PUSH), DONE)
    with receiving(later) as receiver:
        running = world.start("run", "hi", "-m", model, "--json", env=configure(world, receiver))
        asked = until_waiting(world)
        answer(world, asked, "yes")
        out, err = running.communicate(timeout=60)

    assert running.returncode == 0, err
    assert '"answered_by":"inbox"' in out
    counted, lost = records(world, asked["session"], "approval", "approval_lost")
    assert (counted["body"]["yes"], counted["body"]["by"]) == (True, "inbox")
    assert (lost["type"], lost["body"]["yes"], lost["body"]["who"]) == (
        "approval_lost",
        False,
        "bo",
    )


def vouched(seat):
    """Say that the directory is ours, and wait for the question that follows."""
    seat.until("do you vouch for what is in it?")
    seat.until("n = no (default)")
    seat.type("y\r")
    seat.until("n [reason] = no (default)")


def test_terminal_and_inbox_wait_side_by_side(world):
    """Answered elsewhere: the screen says so, and a key that comes later answers nothing."""
    model = world.script(bash(PUSH), bash("sleep 2; cat log"), DONE)
    seat = Seat(world, "run", "hi", "-m", model, size=(110, 50))
    vouched(seat)
    asked = until_waiting(world)
    answer(world, asked, "yes")
    seat.until("answered elsewhere: yes, by inbox")
    late = world.run("approvals", "answer", asked["id"], "no")
    assert late.code == 1
    seat.until("│ gone")
    seat.until("apply")
    seat.type("n\r")
    seat.child.wait()

    said = records(world, asked["session"], "approval", "approval_lost")
    assert [(row["type"], row["body"]["yes"]) for row in said] == [
        ("approval", True),
        ("approval_lost", False),
    ]


def test_terminal_answers_and_the_inbox_is_over(world):
    """The other way round; and the standing yes that was given by a key is listed."""
    model = world.script(bash(PUSH), bash(PUSH), DONE)
    seat = Seat(world, "run", "hi", "-m", model, size=(110, 50))
    vouched(seat)
    asked = until_waiting(world)
    seat.type("s\r")
    seat.until("apply")
    late = world.run("approvals", "answer", asked["id"], "no")
    assert late.code == 1
    assert "answered yes by terminal" in late.err
    (grant,) = json.loads(world.run("approvals", "list", "--json").out)["approvals"]
    assert (grant["by"], grant["scope"]) == ("terminal", "session")
    assert grant["via"].startswith("/dev/pts/")
    seat.type("n\r")
    seat.child.wait()
    said = records(world, asked["session"], "approval")
    assert [row["body"]["by"] for row in said] == ["terminal", "memory"]


def test_notice_is_given_by_the_persons_own_command(world):
    """With nothing of the model's in it."""
    told = world.root / "told"
    (world.root / "config").mkdir()
    (world.root / "config" / "config.yaml").write_text(
        yaml.safe_dump({"approvals": {"notify": ["sh", "-c", f'printf %s "$1" > {told}', "sh"]}})
    )
    model = world.script(bash(PUSH), DONE)
    running = world.start("run", "hi", "-m", model, "--approve", "ask")
    asked = until_waiting(world)
    answer(world, asked, "no")
    _, err = running.communicate(timeout=60)

    assert running.returncode == 0, err
    assert (
        told.read_text() == f"glovebox: a question waits ({asked['id']}): may the agent use bash?"
    )
