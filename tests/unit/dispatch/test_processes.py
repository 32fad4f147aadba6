"""The host knows what was started, and by that knows what an input means."""

import anyio
import pytest

from orchestrator.errors import BoxError
from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.event import ToolUpdate
from orchestrator.schema.request import ProcessInput, ProcessStart
from tests.support.corridor import YES, call, open_corridor
from tests.unit.policy.conftest import SHIPPED

SECRET = "correct-horse-battery-staple-7"
RUNS = Reply("$ ", echoes=True)


def by_policy(name="default"):
    policy = load_policy([name], search=SHIPPED, user_file=None)
    return lambda request, tool: evaluate(policy, request, tool=tool)


class Talk:
    """Calls of one session, one after the other."""

    def __init__(self, folder, *, box=None, **more):
        commands = {"bash": RUNS, "python3": RUNS, "true": Reply()}
        self.box = box or ScriptedBox(commands)
        self.corridor = open_corridor(folder, self.box, evaluate=by_policy(), **more)
        self._number = 0

    def __call__(self, action, **fields):
        self._number += 1
        asked = call("process", self._number, action=action, **fields)
        (result,) = anyio.run(self.corridor.dispatcher.dispatch, [asked])
        return result


@pytest.fixture
def talk(tmp_path):
    return Talk(tmp_path)


def test_process_is_named_by_the_host(talk):
    """One after the other, unless the model gave a name."""
    assert "[p1 is running" in talk("start", command="bash").output
    assert "[web is running" in talk("start", command="bash", id="web").output
    assert "[p2 is running" in talk("start", command="bash").output
    assert [request.handle for request in talk.box.requests] == ["p1", "web", "p2"]


def test_start_is_judged_like_a_command(talk):
    """Nothing reaches the box without an answer."""
    refused = talk("start", command="git push")

    assert refused.is_error
    assert "publishes" in refused.output
    assert talk.box.requests == []


def test_input_that_needs_an_answer_does_not_reach_the_box(talk):
    """It says of what, and the same holds in two pieces."""
    talk("start", command="bash")
    refused = talk("input", id="p1", text="git push\n")
    first = talk("input", id="p1", text="git ")
    second = talk("input", id="p1", text="push\n")

    assert [refused.is_error, first.is_error, second.is_error] == [True, False, True]
    assert "publishes" in second.output
    inputs = [item.text for item in talk.box.requests if isinstance(item, ProcessInput)]
    assert inputs == ["git "]


def test_question_shows_command_and_text_and_its_digest_binds_both(tmp_path):
    """A yes for one shell is none for another."""
    talk = Talk(tmp_path, answers=[YES, YES])
    talk("start", command="bash", id="a")
    talk("start", command="python3", id="b")
    talk("input", id="a", text="git push\n")
    talk("input", id="b", text="__import__('os').system('git push')\n")
    one, other = talk.corridor.confirmer.asked

    assert one.subject == "typed into a (bash):\ngit push\n"
    assert one.subject[slice(*one.decision.span)] == "git push"
    assert one.cwd == "/workspace"
    assert one.digest != other.digest


def test_what_was_typed_is_known_at_the_next_input(talk):
    """Also what a person had to allow; what was refused was never typed."""
    talk("start", command="bash")
    talk("input", id="p1", text="git push\n")
    talk("input", id="p1", text="cd .git/hooks\n")
    refused = talk("input", id="p1", text="echo x > post-commit\n")

    assert talk.box.requests[-1].typed == ""
    assert refused.is_error
    assert "post-commit is protected" in refused.output


def test_new_process_of_a_name_starts_afresh(talk):
    """What was typed into the old one means nothing to it."""
    talk("start", command="bash", id="a")
    talk("input", id="a", text="cd .git/hooks\n")
    talk("signal", id="a", signal="KILL")
    talk("start", command="bash", id="a")
    talk("input", id="a", text="ls\n")

    assert talk.box.requests[-1].typed == ""


def test_failed_start_leaves_the_old_process_known(talk):
    """The box says that the name is taken; input still goes to what has it."""
    talk("start", command="python3", id="a")
    again = talk("start", command="bash", id="a")
    talk("input", id="a", text="1 + 1\n")

    assert "it runs already" in again.output
    assert talk.box.requests[-1].command == "python3"


def test_interrupted_start_takes_no_input(tmp_path):
    """Nobody knows whether the old or the new command reads it."""
    failing = {"bash": RUNS, "python3": Reply(failure=BoxError("box: late"))}
    talk = Talk(tmp_path, box=ScriptedBox(failing))
    talk("start", command="bash", id="a")
    with pytest.raises(BoxError):
        talk("start", command="python3", id="a")
    refused = talk("input", id="a", text="ls\n")

    assert refused.is_error
    assert "interrupted" in refused.output


@pytest.mark.parametrize("action", ["output", "input", "signal"])
def test_process_that_was_not_started_is_not_asked_for(talk, action):
    """The box could claim to have one."""
    talk("start", command="bash", id="web")
    refused = talk(action, id="wob", text="x")

    assert "Started so far: web." in refused.output
    assert [type(request) for request in talk.box.requests] == [ProcessStart]


def test_return_counts_as_enter_at_a_terminal(talk):
    """What a program there reads as a line is judged as one."""
    talk("start", command="bash", pty=True)
    refused = talk("input", id="p1", text="ls\rgit push\r")

    assert "publishes" in refused.output


def test_after_an_input_that_could_not_be_read_each_is_asked_about(tmp_path):
    """Plain letters may mean something else by now."""
    talk = Talk(tmp_path, answers=[YES])
    talk("start", command="bash", pty=True)
    assert not talk("input", id="p1", text="stty erase X\n").is_error
    refused = talk("input", id="p1", text="git puZXsh\n")

    assert refused.is_error
    assert "could not be read" in refused.output
    assert [request.kind for request in talk.box.requests] == ["process_start", "process_input"]


def test_placeholder_is_typed_nowhere(tmp_path):
    """It would go in as that text."""
    talk = Talk(tmp_path, box=ScriptedBox({"bash": Reply(f"token is {SECRET}\n", echoes=True)}),
                known={"TOKEN": SECRET})  # fmt: skip
    shown = talk("start", command="bash").output
    placeholder = shown[shown.index("[redacted:") : shown.index("]") + 1]
    refused = talk("input", id="p1", text=f"curl -H {placeholder}\n")

    assert refused.is_error
    assert placeholder in refused.output


def test_secret_is_hidden_also_in_two_answers(tmp_path):
    """Its beginning is held back until more of it came."""
    half = len(SECRET) // 2
    box = ScriptedBox({"cat": Reply(f"say {SECRET[:half]}", echoes=True)})
    talk = Talk(tmp_path, box=box, known={"TOKEN": SECRET})
    texts = [
        talk("start", command="cat").output,
        talk("input", id="p1", text=f"{SECRET[half:]} and more\n").output,
        talk("output", id="p1", since=0).output,
    ]

    assert not any(SECRET[:half] in text or SECRET[half:] in text for text in texts)
    assert "say" in texts[0]
    assert "and more" in texts[1]
    assert SECRET not in talk.corridor.everything_written()


def test_intent_names_process_command_and_text(talk):
    """The audit tells what was typed into what, and how it ended."""
    talk("start", command="bash", id="a")
    talk("input", id="a", text="ls\n")
    intent = talk.corridor.bodies("intent")[-1]["request"]

    assert (intent["kind"], intent["handle"]) == ("process_input", "a")
    assert (intent["command"], intent["text"]) == ("bash", "ls\n")
    assert len(talk.corridor.bodies("outcome")) == 2
    assert talk.corridor.of(ToolUpdate) == []
