"""The course of a chat, on a real box, said line by line."""

import json

import pytest

from orchestrator.cli.chat import commands
from orchestrator.cli.chat.commands import run_command
from orchestrator.cli.chat.talk import Leave
from orchestrator.harness.conversation import FATAL
from orchestrator.harness.options import LimitOptions
from orchestrator.prompts import tree
from tests.support.world import bash

pytestmark = pytest.mark.docker


def test_lines_are_said_one_after_the_other(chat):
    """The prompt first; empty lines say nothing; a text after // begins with one /."""
    turns = ({"text": "zero"}, {"text": "one"}, {"text": "two"})
    end, answers, _ = chat(*turns, said=["first", "", "//etc?"], prompt="begin")

    assert answers == ["zero", "one", "two"]
    assert (end.status, end.exit_code) == ("done", 0)


def test_tree_leads_back_and_the_branch_that_was_left_stays(chat):
    """The entry is named by the beginning of its id; what was said there is shown again."""

    async def back(talk, line):
        if line != "/back":
            return await run_command(talk, line)
        entries = talk.conversation.session.record.store.tree.entries
        first = next(entry for entry in entries if entry.type == "message")
        return await run_command(talk, f"/tree {first.id[:8]}")

    turns = ({"text": "one"}, {"text": "two"})
    _, answers, told = chat(*turns, said=["first", "/back", "again", "/tree"], command=back)

    assert answers == ["one", "one"]
    assert "to be said anew: first" in told
    assert [line[0] for line in told.splitlines() if "user: " in line] == [" ", ">"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/nonsense", "/nonsense: there is no such command"),
        ("/modle", "did you mean /model?"),
        ("/policy", "policy default"),
        ("/compact", "there is nothing to summarise yet"),
        ("/cost", "0 messages of yours"),
        ("/thinking hard", "/thinking: expected one of off, minimal"),
        ("/model nobody/x", "unknown provider 'nobody'"),
        ("/tree zzz", "entry 'zzz': expected one with this id or label, found 0"),
        ("/abort", "the model is not at work"),
        ("/model", "model scripted/scripted-1, thinking its own default"),
        ("/thinking high", "model scripted/scripted-1, thinking high"),
        ("/help", "/model [NAME]"),
        ("/export", "read it before you share it"),
        ("/export /proc/none/out.html", "/proc/none/out.html: the export cannot be written: No"),
        ("/export .", "the export cannot be written: File exists"),
        ("/export ~nobody-here/x", "~nobody-here/x: the export cannot be written: No such file"),
        ("/export a\0b.md", "the export cannot be written: embedded null byte"),
        (f"/export {'n' * 300}", "the export cannot be written: File name too long"),
        ("/fork zzz", "entry 'zzz': expected one with this id or label, found 0"),
        ("/fork", "goes on from here: glovebox chat --resume"),
        ("/label", "/label: expected a name"),
        ("/label zzz name", "entry 'zzz': expected one"),
        ("/label name", "/label: nothing was said yet"),
        ("/skill none-such", "none-such"),
        ("/diff", "nothing is changed"),
        ("/diff words", "nothing is changed"),
        ("/model a/b c", "unknown provider 'a'"),
        ("/model /", "expected provider/name"),
        ("/thinking high low", "/thinking: expected one of off"),
        ("/discard no", "/discard yes drops them"),
        ("/plan", "/plan"),
        ("/", "/help lists them"),
    ],
)
def test_command_says_what_it_did_or_why_not(chat, line, told):
    """And the chat goes on."""
    _, answers, notes = chat({"text": "still here"}, said=[line, "hello"])

    assert told in notes
    assert answers == ["still here"]


@pytest.mark.parametrize("kind", FATAL)
def test_command_that_fails_ends_no_session(chat, kind):
    """Not by the errors that end one where its own box, chain or file are what fails."""

    async def command(_talk, _line):
        raise kind("it went wrong", hint="try again")

    end, answers, told = chat({"text": "still here"}, said=["/any", "hello"], command=command)

    assert "it went wrong (try again)" in told
    assert answers == ["still here"]
    assert end.exit_code == 0


def test_engine_that_is_gone_for_a_while_ends_no_chat(chat, monkeypatch):
    """What needs it is refused; then the box is still there to talk with."""

    async def command(talk, line):
        with monkeypatch.context() as patch:
            patch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
            return await run_command(talk, line)

    turns = (bash("echo x > a"), {"text": "still here"})
    _, answers, told = chat(*turns, said=["/diff", "/apply", "hello"], command=command)

    assert told.count("/nowhere/docker.sock") >= 2
    assert answers == ["still here"]


def test_chat_that_is_taken_up_shows_what_was_said_last(chat):
    """In short, with a word on what came before; a fresh one shows nothing."""
    turns = [{"text": f"answer {number}"} for number in range(5)]
    turns[3] = bash("echo x")
    turns.insert(4, {"text": "line\n" * 40})
    _, _, fresh = chat(*turns, said=["one", "two", "three", "four"])
    _, answers, told = chat(*turns, said=["five", "/apply"], resume_latest=True)

    assert "goes on from here" not in fresh
    shown = told[: told.index("the conversation goes on from here")]
    assert "… 1 earlier: /tree shows it" in shown
    assert "> one" not in shown
    assert shown.index("> two\nanswer 1\n") < shown.index("> three") < shown.index("> four")
    assert "… 1 call of tools" in shown
    assert "… 28 more lines" in shown
    assert answers == ["answer 4"]
    assert told.count("the conversation goes on from here") == 1


def test_quit_leaves_what_follows_unsaid(chat):
    end, answers, _ = chat({"text": "one"}, said=["first", "/quit", "never"])

    assert answers == ["one"]
    assert end.status == "done"


def test_command_at_rest_is_carried_out_between_two_boxes(chat):
    """Then the same session goes on: the conversation is known, the box is new, and that is told."""
    seen = []

    async def rest(paths, session):
        seen.append((session, paths.audit_log(session).read_text().count("session_end")))

    async def command(_talk, _line):
        return Leave(rest)

    turns = (
        bash("echo x > /tmp/x"),
        {"text": "made"},
        bash("ls /tmp/x || echo gone"),
        {"text": "!"},
    )
    end, answers, told = chat(*turns, said=["make", "/rest", "look"], command=command)

    assert seen == [(end.session, 1)]
    assert answers == ["made", "!"]
    assert "gone" in told


def test_model_that_fails_does_not_end_the_chat(chat):
    refused = {"error": {"status": 400, "type": "invalid_request_error"}}
    _, answers, told = chat(refused, {"text": "now"}, said=["first", "second"])

    assert answers == ["now"]
    assert "bad_request" in told


def test_picture_that_is_named_comes_along(chat):
    """One that cannot be sent is told, and nothing is said."""
    (chat.project / "one.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    (chat.project / "no.png").write_bytes(b"text")
    said = ["what is on @no.png", "what is on @one.png"]
    _, answers, told = chat({"text": "a cat"}, said=said)

    assert answers == ["a cat"]
    assert "@no.png: expected PNG, JPEG, WebP, GIF" in told
    assert "to be said anew: what is on @no.png" in told
    [file] = chat.paths.sessions.rglob("*.jsonl")
    assert file.read_text().count("image/png") == 1


def kept(chat):
    [file] = chat.paths.sessions.rglob("*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()[1:]]


def test_skill_is_worked_by_from_the_next_request_on(chat):
    """Its prompt is another one, and switched off the first is back."""
    turns = ({"text": "a"}, {"text": "b"}, {"text": "c"})
    said = ["one", "/skill", "/skill debug", "two", "/skill off", "three", "/skill none-such"]
    _, answers, told = chat(*turns, said=said)
    prompts = [e["body"]["digest"] for e in kept(chat) if e["body"].get("kind") == "prompt"]

    assert answers == ["a", "b", "c"]
    assert "no skill is on" in told
    assert "  debug" in told
    assert "none-such" in told
    assert prompts[0] == prompts[2] != prompts[1]


def changes(chat):
    bodies = [entry["body"] for entry in kept(chat) if entry["type"] == "skill_change"]
    return [(body["skill"], body["by"], body["confidence"]) for body in bodies]


def test_words_choose_a_skill_for_one_answer_alone(chat):
    """By the same triggers as in a run; afterwards the first prompt is back."""
    turns = ({"text": "a"}, {"text": "b"}, {"text": "c"})
    chat(*turns, said=["hello", "debug the crash", "thanks"])
    prompts = [e["body"]["digest"] for e in kept(chat) if e["body"].get("kind") == "prompt"]

    assert changes(chat) == [("debug", "trigger", 0.8), (None, "trigger", 1.0)]
    assert prompts[0] == prompts[2] != prompts[1]


def test_nothing_is_chosen_after_off_until_auto(chat):
    """A person's skill is never replaced; what stands behind its name is said under it."""
    said = [
        "/skill off",
        "debug the crash",
        "/skill auto",
        "debug the crash",
        "/skill review debug the crash",
        "debug it again",
        "/skill:commit-message",
    ]
    _, answers, told = chat(*[{"text": name} for name in "abcd"], said=said)

    assert answers == list("abcd")
    assert changes(chat) == [
        ("debug", "trigger", 0.8),
        (None, "trigger", 1.0),
        ("review", "user", 1.0),
        ("commit-message", "user", 1.0),
    ]
    assert "no skill is on; none is chosen" in told
    assert "no skill is on; what you say may call for one" in told


def test_what_a_chat_begins_with_may_be_a_command(chat):
    """As what ``run`` is given may be."""
    _, answers, _ = chat({"text": "a"}, said=[], prompt="/skill debug /explain it")
    said = next(e["body"] for e in kept(chat) if e["type"] == "message")

    assert answers == ["a"]
    assert changes(chat) == [("debug", "user", 1.0)]
    assert said["content"][0]["text"].startswith("Explain it.")


def test_policy_shows_the_votes_of_the_skill(chat):
    _, _, told = chat(said=["/policy", "/skill review", "/policy"])

    assert told.count("review-changes-nothing") == 1


def test_skill_of_a_person_stays_over_what_is_done_at_rest(chat):
    """And ``--skill`` is no word against what was said since."""

    async def command(talk, line):
        return Leave(nothing) if line == "/rest" else await run_command(talk, line)

    async def nothing(_paths, _session):
        return None

    said = ["/skill debug", "/rest", "one", "/skill off", "/rest", "debug the crash"]
    chat({"text": "a"}, {"text": "b"}, said=said, command=command)

    assert changes(chat) == [("debug", "user", 1.0), (None, "user", 1.0)]


def test_another_branch_has_its_own_skill(chat):
    async def back(talk, line):
        if line != "/back":
            return await run_command(talk, line)
        entries = talk.conversation.session.record.store.tree.entries
        first = [entry for entry in entries if entry.type == "message"][1]
        return await run_command(talk, f"/tree {first.id[:8]}")

    turns = ({"text": "a"}, {"text": "b"}, {"text": "c"})
    chat(*turns, said=["one", "/skill debug", "two", "/back", "three"], command=back)

    assert changes(chat) == [("debug", "user", 1.0), (None, "user", 1.0)]


def test_templates_are_never_called_as_commands_are():
    assert frozenset(commands.COMMANDS) == tree.COMMANDS


def test_budget_of_a_chat_is_not_refilled_by_leaving_its_box(chat):
    """A change that is applied between two things said opens the session again."""
    used = {"usage": {"input": 500}}
    turns = [
        turn | used
        for word in ("one", "two", "three")
        for turn in (bash(f"echo {word} > {word}"), {"text": word})
    ]
    limits = LimitOptions(tokens=1500)

    _, answers, told = chat(*turns, said=["a", "/apply", "b", "/apply", "c"], limits=limits)

    assert (answers, told.count("box up")) == (["one"], 3)
    assert "limit reached: tokens (1,500, set by a flag)" in told
    assert (chat.project / "one").exists()
