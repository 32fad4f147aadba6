"""A policy drafted from the past: narrow, explained, and true to what it was made of."""

import pytest

from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.load import load_policy
from orchestrator.policy.replay import RecordedCall
from orchestrator.policy.suggest import suggest
from orchestrator.schema.request import ExecRequest, ReadRequest, WriteRequest
from tests.unit.policy.conftest import SHIPPED


@pytest.fixture
def load(tmp_path):
    def from_text(text):
        file = tmp_path / "draft.yaml"
        file.write_text(text, "utf-8")
        return load_policy([str(file)], search=SHIPPED, user_file=None)

    return from_text


def past(*commands, policy="default", seq=1):
    """Return the calls as a policy decides on them."""
    loaded = load_policy([policy], search=SHIPPED, user_file=None)
    found = []
    for number, command in enumerate(commands, seq):
        request = ExecRequest(command, "/workspace", 1.0)
        if isinstance(command, tuple):
            kind, path = command
            request = ReadRequest(path, resolved=path)
            if kind == "write":
                request = WriteRequest(path, "", resolved=path)
        tool = "bash" if isinstance(request, ExecRequest) else command[0]
        decision = evaluate(loaded, request, tool=tool)
        found.append(
            RecordedCall("s1", number, tool, request, decision.effect, decision.rule, None)
        )
    return found


EVERYDAY = (
    "git status --short",
    "git status",
    "git commit -m 'a b'",
    "make test",
    "python3 tools/gen.py --all",
    "python3 -c 'print(1)'",
    "timeout 5 npm test",
    "grep -rn TODO src | wc -l",
    "echo hi > out.txt",
    "./run.sh",
    "git push origin main",
    "rm -rf build",
    ("write", "/workspace/src/a[1].py"),
    ("read", "/workspace/README.md"),
    ("write", "/workspace/.git/hooks/pre-push"),
)


@pytest.mark.parametrize("policy", ["default", "yolo", "strict"])
def test_draft_decides_as_was_decided(load, policy):
    """Allowed stays allowed, asked stays asked, refused stays refused."""
    calls = past(*EVERYDAY, policy=policy)
    found = suggest(calls, load, name="draft")
    loaded = load(found.text)
    now = [evaluate(loaded, call.request, tool=call.tool).effect for call in calls]

    assert found.left == ()
    assert now == [call.effect for call in calls]


@pytest.mark.parametrize(
    ("command", "effect"),
    [
        ("git log", "ask"),
        ("cargo build", "ask"),
        ("python3 other.py", "ask"),
        ("python3 -c 'print(2)'", "ask"),
        ("/tmp/make", "ask"),
        ("echo hi > other.txt", "ask"),
        ("git status -sb", "allow"),
        ("make deploy", "ask"),
        ("grep -c x README.md", "allow"),
    ],
)
def test_draft_allows_little_else(load, command, effect):
    """Other sub-commands, programs, scripts and paths are asked about."""
    loaded = load(suggest(past(*EVERYDAY), load, name="draft").text)

    assert evaluate(loaded, ExecRequest(command, "/workspace", 1.0), tool="bash").effect == effect


def test_tool_that_was_not_used_is_refused(load):
    """The least that was needed."""
    loaded = load(suggest(past("ls"), load, name="draft").text)

    assert (
        evaluate(loaded, ReadRequest("/workspace/a", resolved="/workspace/a"), tool="read").effect
        == "deny"
    )


def test_every_line_says_its_evidence(load):
    """How often, and where first."""
    text = suggest(past("git status", "git status -s", "ls"), load, name="mine").text

    assert '# 2 times, first s1 seq 1\n    - id: used-1\n      program: "git"' in text
    assert "# once, first s1 seq 3" in text
    assert 'name: "mine"' in text


def test_words_of_commands_are_no_yaml(load):
    """A name can hold anything; it stays a word."""
    calls = past("'a: [x]\n- #\"' --flag", "./'b}'", "printf '%s' '\u2028'")
    found = suggest(calls, load, name="x")

    assert found.left == ()
    assert load(found.text)


@pytest.mark.parametrize("command", ["bash", "python3", "timeout 60 bash"])
def test_bare_interpreter_is_never_allowed_whole(load, command):
    """It is named as what no rule can say, and other code is still asked about."""
    found = suggest(past(command), load, name="draft")
    loaded = load(found.text)

    assert [flip.now.effect for flip in found.left] == ["ask"]
    for other in ("bash evil.sh", "python3 evil.py"):
        asked = evaluate(loaded, ExecRequest(other, "/workspace", 1.0), tool="bash")
        assert asked.effect == "ask"


def test_what_no_rule_can_say_is_named(load):
    """Stars in rules mean anything, so that a refusal of one text with a star is left over."""
    call = RecordedCall(
        "s1", 1, "bash", ExecRequest("mytool 'a*'", "/workspace", 1.0), "deny", "r", None
    )
    found = suggest([call], load, name="draft")

    assert [flip.call for flip in found.left] == [call]
