"""The corridor: nothing runs unjudged or unrecorded, and what comes back is in order and safe."""

import json
import posixpath
from pathlib import Path

import anyio
import pytest

from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.confirmation.gate import Answer
from orchestrator.confirmation.terminal import TerminalConfirmer
from orchestrator.dispatch.batch import PartialBatchError
from orchestrator.errors import AuditUnavailable, BoxError
from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.sandbox.driver import PathRefusedError
from orchestrator.sandbox.scripted import Reply, ScriptedBox
from orchestrator.schema.decision import Decision
from orchestrator.schema.event import DecisionMade, ToolEnd, ToolStart, ToolUpdate
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import ExecRequest, ReadRequest, request_digest
from orchestrator.schema.text_tokens import text_tokens
from orchestrator.tools.registry import builtin_tools
from orchestrator.tools.tool import Rendered
from tests.support.corridor import YES, call, open_corridor, raw_call, verdict

SECRET = "correct-horse-battery-staple-7"


def dispatch(corridor, *calls):
    return anyio.run(corridor.dispatcher.dispatch, calls)


def echo(**replies):
    return ScriptedBox({"echo hi": Reply("hi\n"), **replies})


class SilentTerminal:
    def size(self):
        return (80, 24)

    def write(self, text):
        pass

    def discard_input(self):
        pass

    async def read_line(self):
        await anyio.sleep_forever()


def ask_unless(tool):
    """Return a policy that asks about one tool and allows the others."""

    def decide(request, name):  # noqa: ARG001 - the policy's form
        return Decision("ask" if name == tool else "allow", "r", "session", "because")

    return decide


def policy_of(tmp_path, text):
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    return load_policy([str(path)], search=tmp_path, user_file=None)


def test_call_that_no_rule_matches_is_not_executed(tmp_path):
    """A policy that is silent on commands allows none."""
    policy = policy_of(tmp_path, "version: 1\nname: silent\n")
    box = echo()
    corridor = open_corridor(
        tmp_path, box, evaluate=lambda request, tool: evaluate(policy, request, tool=tool)
    )

    (result,) = dispatch(corridor, call("bash", command="echo hi"))

    assert box.requests == []
    assert result.is_error
    assert corridor.bodies("refused")[0]["decision"]["rule"] == "unmatched"


def test_unknown_tool_is_not_executed(tmp_path):
    """The model is told which tools there are."""
    box = echo()
    corridor = open_corridor(tmp_path, box)

    (result,) = dispatch(corridor, call("shell", command="echo hi"))

    assert box.requests == []
    assert result.is_error
    assert "bash" in result.output
    assert corridor.bodies("refused")[0]["tool"] == "shell"


def test_gate_that_breaks_executes_nothing(tmp_path):
    """An error inside the gate is a refusal, not a hole."""
    policy = policy_of(tmp_path, "version: 1\nname: open\ncommands: {default: allow}\n")

    def broken(command, **places):  # noqa: ARG001 - a reader's form
        raise ZeroDivisionError

    box = echo()
    corridor = open_corridor(
        tmp_path, box, evaluate=lambda r, tool: evaluate(policy, r, tool=tool, read=broken)
    )

    (result,) = dispatch(corridor, call("bash", command="echo hi"))

    assert box.requests == []
    assert "gate-error" in result.output


def test_gate_that_raises_executes_nothing(tmp_path):
    """A gate that breaks its promise ends the run; the call does not happen."""

    def raising(request, tool):  # noqa: ARG001 - the policy's form
        raise ZeroDivisionError

    box = echo()
    with pytest.raises(ZeroDivisionError):
        dispatch(open_corridor(tmp_path, box, evaluate=raising), call("bash", command="echo hi"))

    assert box.requests == []


def test_ask_that_times_out_executes_nothing(tmp_path):
    """Silence is a no."""
    box = echo()
    corridor = open_corridor(
        tmp_path,
        box,
        evaluate=verdict("ask"),
        confirmer=TerminalConfirmer(SilentTerminal()),
        timeout_s=0.02,
    )

    (result,) = dispatch(corridor, call("bash", command="echo hi"))

    assert box.requests == []
    assert "nobody answered in time" in result.output
    assert corridor.bodies("approval")[0]["by"] == "timeout"
    assert corridor.bodies("intent") == []


def test_denied_call_is_not_executed_and_says_why(tmp_path):
    """The model gets rule, reason and a way on."""
    box = echo()
    corridor = open_corridor(tmp_path, box, evaluate=verdict("deny", hint="use a branch"))

    (result,) = dispatch(corridor, call("bash", command="echo hi"))

    assert box.requests == []
    assert result.output == "Refused by policy (rule-1): because\nInstead: use a branch"
    assert corridor.bodies("refused")[0]["request"]["command"] == "echo hi"


def test_audit_that_cannot_be_written_executes_nothing(tmp_path):
    """No record, no action."""
    box = echo()
    corridor = open_corridor(tmp_path, box)
    corridor.lock_audit()

    with pytest.raises(AuditUnavailable):
        dispatch(corridor, call("bash", command="echo hi"))

    assert box.requests == []


def test_audit_that_cannot_be_written_stops_reads_side_by_side_as_itself(tmp_path):
    """A batch fails with the error a single call would, so that whoever runs it can tell."""
    box = ScriptedBox(files={"/workspace/a": "a", "/workspace/b": "b"})
    corridor = open_corridor(tmp_path, box)
    corridor.lock_audit()

    with pytest.raises(AuditUnavailable):
        dispatch(corridor, call("read", 1, path="a"), call("read", 2, path="b"))

    assert box.requests == []


def test_intent_is_on_disk_before_the_box_is_called(tmp_path):
    """The box itself looks: its call stands in the chain, and no outcome does."""
    found = []

    class LookingBox(ScriptedBox):
        async def execute(self, request, *, on_output=None, on_execs=None):  # noqa: ARG002 - the driver's form
            found.extend(corridor.records())
            return await super().execute(request, on_output=on_output)

    corridor = open_corridor(tmp_path, LookingBox({"echo hi": Reply("hi\n")}))

    dispatch(corridor, call("bash", command="echo hi"))

    assert [record["type"] for record in found] == ["genesis", "intent"]
    assert found[-1]["body"]["request"]["command"] == "echo hi"
    assert [record["type"] for record in corridor.records()] == ["genesis", "intent", "outcome"]


@pytest.mark.parametrize(
    "made",
    [
        call("bash", command="echo hi"),
        call("write", path="./sub/../a.txt", content="new"),
        call("edit", path="a.txt", edits=[{"oldText": "old", "newText": "new"}]),
        call("read", path="a.txt"),
    ],
    ids=lambda made: made.name,
)
def test_request_that_was_judged_is_the_one_executed(tmp_path, made):
    """One object: judged, asked about, recorded and run under one digest."""
    judged = []

    def judge(request, tool):  # noqa: ARG001 - the policy's form
        judged.append(request)
        return Decision("ask", "r", "session", "because")

    box = ScriptedBox({"echo hi": Reply("hi\n")}, files={"/workspace/a.txt": "old\n"})
    corridor = open_corridor(tmp_path, box, evaluate=judge, answers=[YES])

    (result,) = dispatch(corridor, made)

    digest = request_digest(box.requests[0])
    assert not result.is_error
    assert judged[0] is box.requests[0]
    assert [question.digest for question in corridor.confirmer.asked] == [digest]
    assert corridor.bodies("intent")[0]["digest"] == digest
    assert corridor.bodies("approval")[0]["digest"] == digest


def test_file_request_is_judged_where_it_lands(tmp_path):
    """A link is judged as its target, and the box is held to it."""

    class LinkedBox(ScriptedBox):
        async def resolve(self, request):  # noqa: ARG002 - the driver's form
            return "/workspace/.git/hooks/pre-commit"

    judged = []

    def judge(request, tool):  # noqa: ARG001 - the policy's form
        judged.append(request.resolved)
        return Decision("deny", "protected", "floor", "a hook")

    box = LinkedBox()
    dispatch(open_corridor(tmp_path, box, evaluate=judge), call("write", path="x", content=""))

    assert judged == ["/workspace/.git/hooks/pre-commit"]
    assert box.requests == []


def test_path_that_lands_nowhere_is_not_executed(tmp_path):
    """What the box cannot resolve is refused, recorded and explained."""

    class LoopingBox(ScriptedBox):
        async def resolve(self, request):
            raise PathRefusedError(f"{request.path}: links in a circle")

    box = LoopingBox()
    corridor = open_corridor(tmp_path, box)

    (result,) = dispatch(corridor, call("read", path="a"))

    assert box.requests == []
    assert result.output == "/workspace/a: links in a circle"
    assert corridor.bodies("refused")[0]["request"]["path"] == "/workspace/a"


def test_cancelled_call_has_its_outcome_on_record(tmp_path):
    """An interrupted effect is no open question."""

    class Started(ScriptedBox):
        async def execute(self, request, *, on_output=None, on_execs=None):  # noqa: ARG002 - the driver's form
            started.set()
            return await super().execute(request, on_output=on_output)

    corridor = open_corridor(tmp_path, Started({"sleep": Reply(seconds=60)}))

    async def run():
        async with anyio.create_task_group() as group:
            group.start_soon(corridor.dispatcher.dispatch, [call("bash", command="sleep")])
            await started.wait()
            group.cancel_scope.cancel()

    async def main():
        nonlocal started
        started = anyio.Event()
        await run()

    started = None
    anyio.run(main)

    assert corridor.bodies("outcome") == [{"call": "call_1", "tool": "bash", "cancelled": True}]


def test_box_that_fails_has_its_outcome_on_record(tmp_path):
    """The run ends with the box's error, after saying so."""
    box = ScriptedBox({"boom": Reply(failure=BoxError(f"box: gone with {SECRET}"))})
    corridor = open_corridor(tmp_path, box, known={"key": SECRET})

    with pytest.raises(BoxError):
        dispatch(corridor, call("bash", command="boom"))

    (outcome,) = corridor.bodies("outcome")
    assert outcome["box"].startswith("box: gone with [redacted:key:")


class GatedBox(ScriptedBox):
    """Counts calls that run at once; ``gate`` may hold one back."""

    def __init__(self, *arguments, gate=None, **options):
        super().__init__(*arguments, **options)
        self.running = self.most = 0
        self.order = []
        self.gate = gate

    async def execute(self, request, *, on_output=None, on_execs=None):  # noqa: ARG002 - the driver's form
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            if self.gate is not None:
                await self.gate(self, request)
            return await super().execute(request, on_output=on_output)
        finally:
            self.running -= 1


FILES = {f"/workspace/{name}": f"text of {name}\n" for name in "abc"}


def test_reads_run_side_by_side_and_results_keep_the_order_of_calls(tmp_path):
    """Each read waits for all to have begun; they end in reverse; results do not."""

    ended = {path: anyio.Event() for path in FILES}
    all_began = anyio.Event()

    async def wait_for_all_and_the_next(box, request):
        if box.most == 3:
            all_began.set()
        await all_began.wait()
        after = {"/workspace/a": "/workspace/b", "/workspace/b": "/workspace/c"}
        if request.path in after:
            await ended[after[request.path]].wait()
        box.order.append(request.path)
        ended[request.path].set()

    box = GatedBox(files=FILES, gate=wait_for_all_and_the_next)
    calls = [call("read", n, path=name) for n, name in enumerate("abc", 1)]

    results = dispatch(open_corridor(tmp_path, box), *calls)

    assert box.order == ["/workspace/c", "/workspace/b", "/workspace/a"]
    assert [result.call for result in results] == ["call_1", "call_2", "call_3"]
    assert [result.output for result in results] == [f"text of {name}" for name in "abc"]


@pytest.mark.parametrize(
    "other",
    [
        call("write", 2, path="new", content="x"),
        call("edit", 2, path="b", edits=[{"oldText": "text", "newText": "word"}]),
    ],
    ids=lambda made: made.name,
)
def test_batch_that_writes_a_file_runs_one_after_the_other(tmp_path, other):
    """A read before or after a change sees the files as the model expects them."""

    async def linger(box, request):  # noqa: ARG001 - a gate's form
        await anyio.sleep(0.005)

    box = GatedBox({"echo hi": Reply("hi\n")}, files=FILES, gate=linger)

    results = dispatch(
        open_corridor(tmp_path, box), call("read", 1, path="a"), other, call("read", 3, path="c")
    )

    assert box.most == 1
    assert [result.call for result in results] == ["call_1", "call_2", "call_3"]
    assert [request.kind for request in box.requests] == [
        "read",
        other.name,
        "read",
    ]


def test_refused_call_among_three_is_one_error_between_two_results(tmp_path):
    """One refusal costs the others nothing."""
    box = ScriptedBox(files=FILES)

    def decide(request, tool):  # noqa: ARG001 - the policy's form
        return Decision("deny" if request.path.endswith("b") else "allow", "r", "session", "no b")

    results = dispatch(
        open_corridor(tmp_path, box, evaluate=decide),
        *(call("read", n, path=name) for n, name in enumerate("abc", 1)),
    )

    assert [result.is_error for result in results] == [False, True, False]
    assert "no b" in results[1].output


def test_misspelled_tool_does_not_keep_reads_from_running(tmp_path):
    """A call that cannot run at all is answered beside the reads."""
    results = dispatch(
        open_corridor(tmp_path, ScriptedBox(files=FILES)),
        call("reed", 1, path="a"),
        call("read", 2, path="b"),
    )

    assert [result.is_error for result in results] == [True, False]


@pytest.mark.parametrize(
    "raw",
    [
        '{"command": "ls',
        "null",
        "[]",
        '"ls"',
        "7",
        "{" * 100_000,
        '{"command": ' + "[" * 900 + "]" * 900 + "}",
    ],
    ids=["cut", "null", "list", "string", "number", "braces", "deep"],
)
def test_arguments_that_are_no_object_are_an_error_result(tmp_path, raw):
    """The model is told; the process survives and nothing runs."""
    box = echo()
    corridor = open_corridor(tmp_path, box)

    (result,) = dispatch(corridor, raw_call("bash", raw))

    assert box.requests == []
    assert result.is_error
    assert "not a JSON object" in result.output
    assert corridor.bodies("refused")[0]["raw_arguments"] == raw[:2000]


def test_wrong_arguments_are_told_field_by_field(tmp_path):
    """The tool's own words reach the model and the record."""
    box = echo()
    corridor = open_corridor(tmp_path, box)

    (result,) = dispatch(corridor, call("bash", comand="ls"))

    assert box.requests == []
    assert "did you mean command?" in result.output
    assert corridor.bodies("refused")[0]["request"] is None


def test_empty_arguments_are_an_empty_object(tmp_path):
    """Some servers send nothing for a tool that needs nothing."""
    (result,) = dispatch(open_corridor(tmp_path, ScriptedBox(files=FILES)), raw_call("ls", ""))

    assert not result.is_error
    assert result.output.startswith("a (")


def test_command_that_prints_nothing_has_words_for_it(tmp_path):
    """No empty block goes to a provider."""
    (result,) = dispatch(
        open_corridor(tmp_path, ScriptedBox({"true": Reply()})), call("bash", command="true")
    )

    assert result.output == "(no output)"


def test_tool_that_renders_nothing_has_words_for_it(tmp_path):
    """Whatever the tool, no result is empty."""

    class Mute:
        definition = builtin_tools(["bash"])[0].definition

        def plan(self, arguments, context):
            return ExecRequest(arguments["command"], context.workdir, 1.0)

        def render(self, request, outcome):  # noqa: ARG002 - a tool's form
            return Rendered("")

    corridor = open_corridor(tmp_path, echo(), tools={"bash": Mute()})
    (result,) = dispatch(corridor, call("bash", command="echo hi"))

    assert result.output == "(no output)"


def test_no_calls_are_no_results(tmp_path):
    """An empty batch does nothing."""
    assert dispatch(open_corridor(tmp_path, ScriptedBox())) == ()


@pytest.mark.parametrize(
    ("second", "ran", "waits"),
    [("write", ["call_1"], ["call_2", "call_3"]), ("read", ["call_1", "call_3"], ["call_2"])],
)
def test_unanswered_ask_under_stop_tells_what_ran_and_what_waits(tmp_path, second, ran, waits):
    """The run can be resumed: what ran has its result, what waits has not begun."""
    box = ScriptedBox({"echo hi": Reply("hi\n")}, files=FILES)
    calls = [
        call("bash", 1, command="echo hi"),
        call(second, 2, path="new", **({"content": "x"} if second == "write" else {})),
        call("bash", 3, command="echo hi"),
    ]
    corridor = open_corridor(
        tmp_path, box, evaluate=ask_unless(second), confirmer=NobodyConfirmer(), stop=True
    )

    with pytest.raises(PartialBatchError) as caught:
        dispatch(corridor, *calls)

    assert [(r.call, r.output) for r in caught.value.results] == [(call, "hi") for call in ran]
    assert [waiting.id for waiting in caught.value.waiting] == waits
    assert caught.value.stop.call == "call_2"
    assert len(box.requests) == len(ran)


def test_unanswered_ask_among_reads_under_stop_lets_the_others_end(tmp_path):
    """Each has its result; what waits has not begun."""

    def decide(request, tool):  # noqa: ARG001 - the policy's form
        return Decision("ask" if request.path.endswith("b") else "allow", "r", "session", "b")

    box = ScriptedBox(files=FILES)
    corridor = open_corridor(tmp_path, box, evaluate=decide, confirmer=NobodyConfirmer(), stop=True)

    with pytest.raises(PartialBatchError) as caught:
        dispatch(corridor, *(call("read", n, path=name) for n, name in enumerate("abc", 1)))

    assert [waiting.id for waiting in caught.value.waiting] == ["call_2"]
    assert [result.call for result in caught.value.results] == ["call_1", "call_3"]
    assert len(box.requests) == 2


def test_failure_beside_an_unanswered_ask_is_the_one_that_is_told(tmp_path):
    """A box that is gone ends the run; a question can wait for the next."""

    class Failing(ScriptedBox):
        async def resolve(self, request):
            if request.path.endswith("a"):
                raise BoxError("box: gone")
            return posixpath.normpath(request.path)

    corridor = open_corridor(
        tmp_path,
        Failing(files=FILES),
        evaluate=verdict("ask"),
        confirmer=NobodyConfirmer(),
        stop=True,
    )

    with pytest.raises(BoxError):
        dispatch(corridor, call("read", 1, path="a"), call("read", 2, path="b"))


def test_known_value_reaches_neither_model_nor_observers_nor_audit(tmp_path):
    """Planted in arguments, in the output, and cut in two by the stream."""

    class Dripping(ScriptedBox):
        async def execute(self, request, *, on_output=None, on_execs=None):  # noqa: ARG002 - the driver's form
            for piece in ("key=", SECRET[:9], SECRET[9:20], SECRET[20:] + "\nend\n"):
                on_output(piece)
            return await super().execute(request, on_output=None)

    command = f"curl -H 'X: {SECRET}'"
    box = Dripping({command: Reply(f"key={SECRET}\nend\n")})
    corridor = open_corridor(
        tmp_path,
        box,
        evaluate=verdict("ask", hint=SECRET),
        answers=[Answer(yes=True, by="scripted", reason=f"for {SECRET}")],
        known={"acme": SECRET},
    )

    (result,) = dispatch(corridor, call("bash", command=command))

    streamed = "".join(update.text for update in corridor.of(ToolUpdate))
    assert box.requests[0].command == command
    assert SECRET not in corridor.everything_written() + result.output
    assert streamed.startswith("key=[redacted:acme:")
    assert streamed.endswith("\nend\n")
    assert "[redacted:acme:" in result.output
    assert "[redacted:acme:" in corridor.bodies("intent")[0]["request"]["command"]


def test_known_value_in_what_is_refused_is_redacted_too(tmp_path):
    """Malformed arguments, unknown tools and reasons given by a person are texts like others."""
    corridor = open_corridor(
        tmp_path,
        ScriptedBox(),
        evaluate=verdict("ask"),
        answers=[Answer(yes=False, by="scripted", reason=f"never {SECRET}")],
        known={"acme": SECRET},
    )

    results = dispatch(
        corridor,
        raw_call("bash", f'{{"command": "{SECRET}', 1),
        call(f"tool-{SECRET}", 2, path=SECRET),
        call("bash", 3, command=f"echo {SECRET}"),
    )

    assert SECRET not in corridor.everything_written() + repr(results)


def test_person_who_is_asked_sees_the_real_command(tmp_path):
    """A yes is for exactly what runs, so the question shows that."""
    command = f"deploy {SECRET}"
    corridor = open_corridor(
        tmp_path,
        ScriptedBox({command: Reply()}),
        evaluate=verdict("ask"),
        answers=[YES],
        known={"acme": SECRET},
    )

    dispatch(corridor, call("bash", command=command))

    assert corridor.confirmer.asked[0].subject == command


def read_env(corridor):
    (result,) = dispatch(corridor, call("read", path=".env"))
    return result.output


ENV = f"NAME=app\nTOKEN={SECRET}\n"


def test_placeholder_written_back_to_its_own_file_is_the_secret_again(tmp_path):
    """A model can edit a file it may not see whole."""
    box = ScriptedBox(files={"/workspace/.env": ENV})
    corridor = open_corridor(tmp_path, box, known={"acme": SECRET})
    seen = read_env(corridor)
    placeholder = seen.rpartition("=")[2]

    results = dispatch(
        corridor,
        call("write", 2, path=".env", content=seen.replace("app", "web") + "\n"),
        call(
            "edit",
            3,
            path=".env",
            edits=[{"oldText": f"={placeholder}", "newText": f"='{placeholder}'"}],
        ),
    )

    assert SECRET not in seen
    assert [result.is_error for result in results] == [False, False]
    assert box.files["/workspace/.env"] == f"NAME=web\nTOKEN='{SECRET}'\n"
    assert SECRET not in corridor.everything_written()


@pytest.mark.parametrize("tool", ["write", "edit"])
def test_placeholder_is_refused_in_any_other_file(tmp_path, tool):
    """Neither the secret nor its placeholder lands where it was not."""
    box = ScriptedBox(files={"/workspace/.env": ENV, "/workspace/other": "here"})
    corridor = open_corridor(tmp_path, box, known={"acme": SECRET})
    seen = read_env(corridor)
    made = {
        "write": call("write", 2, path="other", content=seen),
        "edit": call("edit", 2, path="other", edits=[{"oldText": "here", "newText": seen}]),
    }[tool]

    (result,) = dispatch(corridor, made)

    assert result.is_error
    assert "was not read from this file" in result.output
    assert box.files["/workspace/other"] == "here"
    assert len(box.requests) == 1


def test_one_call_is_told_to_observers_in_order(tmp_path):
    """Start, decision, output, end; the end carries what the model reads and what a person may."""
    corridor = open_corridor(tmp_path, echo())

    (result,) = dispatch(corridor, call("bash", command="echo hi"))

    kinds = [type(event) for event in corridor.events]
    end = corridor.events[-1]
    assert kinds == [ToolStart, DecisionMade, ToolUpdate, ToolEnd]
    assert (end.call, end.output, end.is_error) == ("call_1", result.output, False)
    assert end.details["exit_code"] == 0
    assert end.duration_ms >= 0


def test_failed_command_is_recorded_with_its_plain_facts(tmp_path):
    """The audit knows how it ended without holding the output."""
    box = ScriptedBox({"false": Reply("no luck\n", exit_code=3)})
    corridor = open_corridor(tmp_path, box)

    (result,) = dispatch(corridor, call("bash", command="false"))

    (outcome,) = corridor.bodies("outcome")
    assert result.is_error
    assert outcome["is_error"]
    assert outcome["facts"]["exit_code"] == 3
    assert "no luck" not in json.dumps(outcome)


def test_read_of_a_picture_keeps_the_picture(tmp_path):
    """Redaction is for text."""

    class Album(ScriptedBox):
        async def execute(self, request, *, on_output=None, on_execs=None):  # noqa: ARG002 - the driver's form
            assert isinstance(request, ReadRequest)
            picture = {"type": "image", "media_type": "image/png", "data": "aGVsbG8="}
            return Outcome(
                {**picture, "width": 1, "height": 1, "original_width": 1, "original_height": 1}
            )

    (result,) = dispatch(open_corridor(tmp_path, Album()), call("read", path="a.png"))

    assert [image.data for image in result.images] == ["aGVsbG8="]


def test_shipped_default_policy_lets_plain_work_through(tmp_path):
    """The same corridor with the real gate: a listing runs, a push asks and is refused."""
    policy = load_policy(["default"], search=Path("policies"), user_file=None)
    box = ScriptedBox({"ls": Reply("a\n")})
    corridor = open_corridor(
        tmp_path, box, evaluate=lambda request, tool: evaluate(policy, request, tool=tool)
    )

    listed, pushed = dispatch(
        corridor, call("bash", 1, command="ls"), call("bash", 2, command="git push")
    )

    assert (listed.output, pushed.is_error) == ("a", True)
    assert [request.command for request in box.requests] == ["ls"]


def test_command_with_a_placeholder_is_refused_and_told(tmp_path):
    """It would run as that text, and could end in a file."""
    box = ScriptedBox(commands={"echo planted-value-0123456789": Reply("ok")})
    corridor = open_corridor(tmp_path, box, known={"key": "planted-value-0123456789"})
    placeholder = corridor.output.scrub("planted-value-0123456789")
    (result,) = dispatch(corridor, call("bash", command=f"echo {placeholder}"))

    assert result.is_error
    assert "stands for a secret" in result.output
    assert "stands for a secret" in corridor.audit_file.read_text()


def test_what_is_judged_recorded_and_run_is_narrowed_to_the_room_left(tmp_path):
    """The calls of a turn share it; the model is told why it sees less, and how to see more."""
    lines = "\n".join(f"line {n}" for n in range(5_000))
    box = ScriptedBox({"cat big": Reply(lines)}, files={"/workspace/big": lines})
    judged = []

    def evaluate(request, tool):
        judged.append(request)
        return verdict("allow")(request, tool)

    corridor = open_corridor(tmp_path, box, evaluate=evaluate, room=lambda: 4_000)
    read, ran = dispatch(corridor, call("read", 1, path="big"), call("bash", 2, command="cat big"))

    assert [request.max_bytes for request in judged if isinstance(request, ReadRequest)] == [3_125]
    assert [r.max_bytes for r in box.requests if isinstance(r, ReadRequest)] == [3_125]
    intents = {body["tool"]: body["request"] for body in corridor.bodies("intent")}
    assert intents["read"]["max_bytes"] == 3_125
    assert text_tokens(read.output) <= 2_000
    assert "go on with offset=" in read.output
    assert "search it with grep" in read.output
    assert text_tokens(ran.output) <= 2_000
    assert "room for about 2000 tokens" in ran.output
    assert ran.output.endswith("line 4999")
