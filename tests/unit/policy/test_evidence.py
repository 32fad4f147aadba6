"""What recorded calls used."""

import pytest

from orchestrator.policy.evidence import Use, gather
from orchestrator.policy.replay import RecordedCall
from orchestrator.schema.request import ExecRequest


def gathered(*commands, effect="allow"):
    calls = [
        RecordedCall(
            "s", number, "bash", ExecRequest(command, "/workspace", 1.0), effect, "r", None
        )
        for number, command in enumerate(commands)
    ]
    return gather(calls, home="/home/agent", workspace="/workspace")


@pytest.mark.parametrize(
    ("command", "use"),
    [
        ("ls -la", Use("ls", (), exact=False)),
        ("git -C sub status -s", Use("git", ("status",), exact=False)),
        ("./x y", Use("./x", (), exact=False)),
        ("python3 a.py -v", Use("python3", ("a.py", "-v"), exact=True)),
        ("bash run.sh", Use("bash", ("run.sh",), exact=True)),
    ],
)
def test_program_is_named_as_narrowly_as_is_useful(command, use):
    """By sub-command; what runs code with all its arguments, where a rule can say them."""
    assert use in gathered(command).uses


@pytest.mark.parametrize("command", ["python3", "bash", 'python3 "$X"', "python3 'a*'"])
def test_interpreter_whose_arguments_no_rule_can_say_is_not_named(command):
    """A rule for its name alone would allow any code."""
    assert gathered(command).uses == {}


def test_wrapper_and_wrapped_are_both_used():
    """A rule is needed for each."""
    assert {use.program for use in gathered("timeout 5 make").uses} == {"timeout", "make"}


def test_written_paths_are_evidence():
    """Also those that a command redirects to."""
    assert list(gathered("echo x > a.txt").writes) == ["/workspace/a.txt"]


def test_asked_calls_are_evidence_of_their_tool_alone():
    """A yes to one is no reason to stop asking."""
    found = gathered("git push", effect="ask")

    assert list(found.tools) == ["bash"]
    assert found.uses == {}
