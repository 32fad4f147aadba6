"""The door: every text gets an answer, and the corpora are answered right."""

from pathlib import Path

import pytest
import yaml

from orchestrator.shell.analyse import MAX_CHARACTERS, analyse
from tests.support.shell_reading import risks

CASES = Path(__file__).parents[2] / "cases"
GATE = yaml.safe_load((CASES / "gate.yaml").read_text("utf-8"))
COMMANDS = yaml.safe_load((CASES / "commands.yaml").read_text("utf-8"))
ANSWERS = {"allow": {"allow"}, "ask": {"ask"}, "deny-or-ask": {"ask", "deny"}}


def answer(command: str) -> str:
    """Map risks the way the default policy does: evasion is refused, all else is asked."""
    found = risks(command)
    if "evasion" in found:
        return "deny"
    return "ask" if found else "allow"


@pytest.mark.parametrize("case", GATE, ids=[case["id"] for case in GATE])
def test_corpus_case_gets_its_answer(case):
    """A person is asked about what matters, and about nothing else."""
    assert answer(case["command"]) in ANSWERS[case["expect"]], case["why"]


def test_risky_commands_are_all_found():
    """Every command of the own corpus that matters has a finding."""
    assert [command for command in COMMANDS["risky"] if not risks(command)] == []


def test_harmless_commands_are_never_asked_about():
    """Everyday commands have no finding at all."""
    asked = {command: risks(command) for command in COMMANDS["harmless"] if risks(command)}
    assert asked == {}


@pytest.mark.parametrize(
    "command",
    [
        "",
        " ",
        "\n",
        "#",
        ";",
        "\0",
        "a\0b",
        "\ud800",
        "echo \udfff x",
        "\ufffc",
        "$" * 50,
        "(" * 300,
        "`" * 301,
        "{a," * 200,
        "<<" * 200,
        "'" * 101,
        "echo ${" * 100,
        "case x in " * 30,
    ],
)
def test_odd_text_never_raises(command):
    """Whatever a model writes gets an answer, not an exception."""
    assert analyse(command).command == command


@pytest.mark.parametrize("command", ["ls \0", "\ud800", "ls \udc80"])
def test_text_no_shell_can_be_given_is_opaque_and_evasive(command):
    """NUL and lone surrogates cannot reach bash as they stand, so nothing is known."""
    assert {"opaque", "evasion"} <= risks(command)
    assert analyse(command).commands == ()


@pytest.mark.parametrize(
    "command",
    [
        "true;" * 1000,
        "a" * (MAX_CHARACTERS + 1),
        "$(" * 60 + "ls" + ")" * 60,
        "(" * 200 + "ls" + ")" * 200,
        "echo {1..1000000}",
        "echo " + "{a,b}" * 12,
        "x=1;" * 20_000,
    ],
)
def test_command_over_a_limit_is_high_opaque(command):
    """What is too large to be read is asked about, and no blanket yes answers it."""
    (finding,) = [found for found in analyse(command).findings if found.risk == "opaque"][:1]
    assert finding.severity == "high"


def test_span_of_finding_points_at_the_offending_part():
    """Offsets are characters of the text as given, before non-ASCII text too."""
    command = "echo 'grüße 🎉'; rm -rf src"
    (finding, *_) = analyse(command).findings
    assert command[finding.span[0] : finding.span[1]] == "rm -rf src"


def test_span_of_nested_finding_points_into_the_quoted_code():
    """Code inside a quoted word is marked where it stands."""
    command = "bash -c 'ls; git push origin main'"
    (finding,) = analyse(command).findings
    assert command[finding.span[0] : finding.span[1]] == "git push origin main"


def test_directories_are_taken_from_the_caller():
    """The workspace and the home are not fixed."""
    inside = analyse("rm /srv/w/a", cwd="/srv/w", workspace="/srv/w")
    outside = analyse("rm /srv/w/a")
    assert (inside.findings, len(outside.findings)) == ((), 1)


def test_writes_and_reads_are_listed_as_absolute_paths():
    """Policy judges paths, not spellings."""
    found = analyse("cd src && sort ../a -o b > /tmp/c")
    assert {path for path, _ in found.writes} == {"/workspace/src/b", "/tmp/c"}
    assert {path for path, _ in found.reads} == {"/workspace/a"}


@pytest.mark.parametrize("risk", ["opaque", "evasion"])
def test_opaque_and_evasive_findings_are_high(risk):
    """No blanket yes may answer what nobody could read."""
    command = {"opaque": "$X push", "evasion": "ls\u200b"}[risk]
    found = [item for item in analyse(command).findings if item.risk == risk]
    assert [item.severity for item in found] == ["high"] * len(found)
    assert found


@pytest.mark.parametrize("command", ["rm -rf /", "rm -rf ~", "rm /etc/passwd", "dd of=/dev/sda"])
def test_loss_outside_the_workspace_is_high(command):
    """Losing the system or a home is never waved through."""
    assert "high" in {finding.severity for finding in analyse(command).findings}
