"""The order of a question at a terminal."""

import anyio
import pytest

from orchestrator.confirmation.gate import Answer, Question
from orchestrator.confirmation.terminal import TerminalConfirmer
from orchestrator.confirmation.who import user_name
from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import Digest
from orchestrator.schema.likeness import Likeness, Pattern


class ScriptedTerminal:
    """Gives lines in turn and keeps what happened."""

    def __init__(self, lines, *, size=(80, 24)):
        self.lines = list(lines)
        self.shown = ""
        self.happened = []
        self._size = size

    def size(self):
        return self._size

    def write(self, text):
        self.shown += text
        self.happened.append("write")

    def discard_input(self):
        self.happened.append("discard")

    async def read_line(self):
        self.happened.append("read")
        if not self.lines:
            await anyio.sleep_forever()
        return self.lines.pop(0)


def ask(lines, *, subject="rm -rf build", decision=None, timeout_s=5.0, size=(80, 40), **more):
    terminal = ScriptedTerminal(lines, size=size)
    question = Question(
        "ask-1",
        "1",
        "bash",
        subject,
        "/workspace",
        decision or Decision("ask", "r", "session", "deletes a tree"),
        Digest("sha256:0"),
        **{"session": "a" * 12} | more,
    )

    async def run():
        return await TerminalConfirmer(terminal, name="/dev/pts/9").ask(
            question, timeout_s=timeout_s
        )

    return anyio.run(run), terminal


@pytest.mark.parametrize("line", ["y", "yes", " Y "])
def test_a_clear_yes_is_a_yes(line):
    """Only a clear yes opens the box."""
    answer, _ = ask([line])

    assert (answer.yes, answer.by, answer.scope) == (True, "terminal", "once")
    assert (answer.who, answer.via) == (user_name(), "/dev/pts/9")


@pytest.mark.parametrize(
    "line", ["", "n", "no", None, "maybe", "yess", "ys", "y*", "yes please", "1h", "p", "s*"]
)
def test_anything_else_is_a_no(line):
    """Ctrl-C, Esc, end of input, an empty line and a mistyped word are a no."""
    answer, _ = ask([line])

    assert not answer.yes


def test_a_reason_goes_with_the_no():
    """The model is told why."""
    answer, _ = ask(["n use the other branch"])

    assert answer.reason == "use the other branch"


def test_silence_is_a_no_by_timeout():
    """Nobody there means no."""
    answer, _ = ask([], timeout_s=0.05)

    assert (answer.yes, answer.by) == (False, "timeout")


def test_what_was_typed_before_the_question_is_dropped():
    """No answer is older than its question."""
    _, terminal = ask(["y"])

    assert terminal.happened.index("discard") < terminal.happened.index("read")
    # Nothing but the bell comes before: what is typed at the sight of the question counts.
    assert terminal.happened[:2] == ["write", "discard"]
    assert terminal.shown[0] == "\a"


def test_a_yes_is_possible_only_after_the_end_was_shown():
    """A script of 60 lines is shown page by page; giving up is a no."""
    script = "\n".join(f"echo {n}" for n in range(60))
    gave_up, first = ask(["n"], subject=script, size=(80, 24))
    went_on, second = ask(["", "", "", "y"], subject=script, size=(80, 24))

    assert not gave_up.yes
    assert "echo 59" not in first.shown
    assert went_on.yes
    assert "echo 59" in second.shown


def test_key_that_was_typed_before_a_page_says_nothing_about_it():
    """Whoever holds Enter down has not read the end."""
    script = "\n".join(f"echo {n}" for n in range(60))
    _, terminal = ask(["", "", "", "y"], subject=script, size=(80, 24))
    reads = [at for at, what in enumerate(terminal.happened) if what == "read"]

    assert len(reads) == 4
    for at in reads:
        # Dropped, then the line that asks, then the key.
        assert terminal.happened[at - 2 : at] == ["discard", "write"]


def test_session_scope_is_refused_where_it_is_not_offered():
    """An unyielding ask cannot be remembered."""
    answer, _ = ask(["s"], decision=Decision("ask", "r", "session", "x", unyielding=True))

    assert not answer.yes


def test_session_scope_is_taken_where_it_is_offered():
    """One letter for the rest of the session."""
    answer, terminal = ask(["s"])

    assert (answer.yes, answer.scope) == (True, "session")
    assert "session ends" in terminal.shown


@pytest.mark.parametrize(
    ("line", "scope"), [("30m", "30m"), ("p", "project"), ("project", "project"), ("S", "session")]
)
def test_yes_for_longer_is_said_by_its_key(line, scope):
    """As the question told it."""
    answer, _ = ask([line], scopes=("once", "session", "30m", "project"))

    assert (answer.yes, answer.scope, answer.widened) == (True, scope, False)


def test_wider_yes_is_said_by_a_star():
    """Only with a scope, and only where a pattern is offered."""
    pattern = Likeness(pattern=Pattern(("git", "push", None), "/workspace"))
    answer, _ = ask(["s*"], likeness=pattern)

    assert (answer.yes, answer.scope, answer.widened) == (True, "session", True)
    assert not ask(["y*"], likeness=pattern)[0].yes


def made(name, **more):
    decision = Decision("ask", "r", "session", "x")
    return Question(name, "1", "bash", name, "/w", decision, Digest(name), **more)


def test_answer_from_elsewhere_is_shown():
    """The person at the terminal sees why the question went away; of one that was not shown, nothing."""
    terminal = ScriptedTerminal([])
    confirmer = TerminalConfirmer(terminal)
    answer = Answer(yes=True, by="inbox", who="bo\x1b[2J")

    async def run():
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: confirmer.ask(made("first"), timeout_s=60))
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
        terminal.shown = ""
        for question in (made("first"), made("unseen"), made("first")):
            assert await confirmer.close(question, answer) is None

    anyio.run(run)

    assert terminal.shown == "\nanswered elsewhere: yes, by inbox (bo\\x1b[2J): first\n"


def test_word_of_an_answer_from_elsewhere_waits_for_the_question_on_the_screen():
    """It would be taken for one about that."""
    terminal = ScriptedTerminal([])
    confirmer = TerminalConfirmer(terminal)

    async def run():
        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as first:
                group.start_soon(lambda: confirmer.ask(made("second", aside=True), timeout_s=60))
                await anyio.wait_all_tasks_blocked()
                group.start_soon(lambda: confirmer.ask(made("third"), timeout_s=60))
                await anyio.wait_all_tasks_blocked()
                first.cancel()
                await confirmer.close(made("second"), Answer(yes=True, by="inbox"))
                shown_meanwhile = terminal.shown
            group.cancel_scope.cancel()
        await confirmer.close(made("third"), Answer(yes=False, by="inbox"))
        return shown_meanwhile

    assert "answered elsewhere" not in anyio.run(run)
    assert "answered elsewhere: yes, by inbox: second" in terminal.shown


def test_agents_own_call_goes_before_what_a_program_asks_for():
    """Whatever came first, once the question on the screen is over; a program's never piles up."""
    shown = anyio.Event()

    class Slow(ScriptedTerminal):
        async def read_line(self):
            await shown.wait()
            return await super().read_line()

    confirmer = TerminalConfirmer(Slow(["y"] * 4))
    done = []

    async def one(question):
        await confirmer.ask(question, timeout_s=5)
        done.append(question.id)

    async def run():
        async with anyio.create_task_group() as group:
            for name in ("net-1", "net-2", "net-3"):
                group.start_soon(one, made(name, aside=True))
            group.start_soon(one, made("call"))
            await anyio.wait_all_tasks_blocked()
            shown.set()

    anyio.run(run)

    assert done == ["net-1", "call", "net-2", "net-3"]


def test_time_counts_while_another_question_is_on_the_screen():
    """And what was never shown is not said to be over."""
    terminal = ScriptedTerminal([])
    confirmer = TerminalConfirmer(terminal)

    async def run():
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: confirmer.ask(made("first"), timeout_s=60))
            await anyio.wait_all_tasks_blocked()
            answer = await confirmer.ask(made("second"), timeout_s=0.05)
            group.cancel_scope.cancel()
        return answer

    assert anyio.run(run).by == "timeout"
    assert "second" not in terminal.shown
    assert "no answer in time" not in terminal.shown


def test_word_that_is_not_understood_is_said_to_be_a_no():
    """The person sees what became of it."""
    _, terminal = ask(["perhaps"])

    assert "not understood: no." in terminal.shown


def test_questions_are_asked_one_after_the_other():
    """Two calls that ask at once do not mix on the screen."""
    terminal = ScriptedTerminal(["y", "n"])
    confirmer = TerminalConfirmer(terminal)
    made = [
        Question("a", "1", "bash", name, "/w", Decision("ask", "r", "session", "x"), Digest("d"))
        for name in ("first", "second")
    ]
    answers = {}

    async def one(question):
        answers[question.subject] = (await confirmer.ask(question, timeout_s=5)).yes

    async def run():
        async with anyio.create_task_group() as group:
            for question in made:
                group.start_soon(one, question)

    anyio.run(run)

    assert answers == {"first": True, "second": False}
    assert (
        terminal.shown.index("first")
        < terminal.shown.index("n [reason]")
        < terminal.shown.index("second")
    )
