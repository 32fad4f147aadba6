"""``glovebox approvals``: seen, answered and taken back from the command line."""

import json

import pytest

from orchestrator.cli.app import run_app
from orchestrator.cli.approvals_rows import SHOWN, short
from orchestrator.config.paths import Paths
from orchestrator.confirmation.gate import utc_now
from orchestrator.confirmation.grants import Grants
from orchestrator.confirmation.inbox import Inbox
from tests.support.asking import question, yes


@pytest.fixture
def paths(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOVEBOX_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("GLOVEBOX_CONFIG", str(tmp_path / "config"))
    monkeypatch.delenv("GLOVEBOX_DEBUG", raising=False)
    return Paths(tmp_path / "state", tmp_path / "config")


@pytest.fixture
def asked(paths):
    made = question("git push origin main\x1b[2J; echo \u202e", more={"created": utc_now()})
    Inbox(paths.questions).put(made)
    return made


def glovebox(capsys, *words):
    code = run_app(["approvals", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_waiting_question_is_listed_and_shown_without_a_control_byte(capsys, asked):
    """Whole, escaped as at the terminal, with what each answer is kept for."""
    code, listed, _ = glovebox(capsys, "list")
    assert code == 0
    assert asked.id in listed

    code, shown, _ = glovebox(capsys, "show", asked.id[:5])
    assert code == 0
    assert r"git push origin main\x1b[2J; echo \u202e" in shown
    assert "warning: it holds characters that reverse" in shown
    assert "30m  yes: exactly this, in this project, for 30m" in shown
    assert "it waits for an answer" in shown
    assert not set(listed + shown) & set("\x1b\u202e")


def test_answer_is_given_once(capsys, asked, paths):
    """The second one is told that it does not count."""
    code, out, _ = glovebox(capsys, "answer", asked.id, "yes", "--scope", "30m")
    assert code == 0
    assert "yes  30m" in out
    answer = Inbox(paths.questions).collect(asked)
    assert (answer.yes, answer.scope, answer.by) == (True, "30m", "inbox")
    assert answer.via.startswith("glovebox approvals")

    code, _, err = glovebox(capsys, "answer", asked.id, "no")
    assert code == 1
    assert "does not count" in err


def test_no_carries_its_reason(capsys, asked, paths):
    """The model will read it."""
    assert glovebox(capsys, "answer", asked.id, "no", "--reason", "not on friday")[0] == 0
    assert Inbox(paths.questions).collect(asked).reason == "not on friday"


@pytest.mark.parametrize(
    "words",
    [
        ["answer", "ffffffff", "yes"],
        ["show", "ffffffff"],
        ["answer", "{id}", "maybe"],
        ["answer", "{id}", "yes", "--scope", "for-ever"],
        ["answer", "{id}", "yes", "--wider", "--scope", "session"],
        ["answer", "{id}", "no", "--scope", "session"],
        ["answer", "{id}", "no", "--reason", "x" * 2001],
        ["revoke", "ffffffff"],
        ["revoke"],
        ["revoke", "ffff", "--all"],
    ],
)
def test_what_cannot_be_is_a_usage_error_and_answers_nothing(capsys, asked, paths, words):
    """An unknown id above all."""
    assert glovebox(capsys, *[word.format(id=asked.id) for word in words])[0] == 2
    assert Inbox(paths.questions).all()[0].state == "waiting"


def test_standing_yes_is_listed_with_its_provenance_and_revoked(capsys, paths):
    """Who, when, where from, which question, until when."""
    asked = question("git push origin main\x1b[2J")
    grant = Grants(paths.grants).add(asked, yes("project", who="ann", via="/dev/pts/3"))

    _, listed, _ = glovebox(capsys, "list")
    for word in (grant.id, "project", "by ann at", "/dev/pts/3", asked.id, "until ", r"\x1b[2J"):
        assert word in listed
    _, listed, _ = glovebox(capsys, "list", "--json")
    (row,) = json.loads(listed)["approvals"]
    assert (row["status"], row["who"], row["question"]) == ("stands", "ann", asked.id)

    code, out, _ = glovebox(capsys, "revoke", grant.id)
    assert code == 0
    assert "revoked" in out
    assert glovebox(capsys, "list")[1] == ""
    assert "revoked" in glovebox(capsys, "list", "--all")[1]
    assert Grants(paths.grants).find(asked) is None


def test_project_is_revoked_by_its_directory(capsys, paths, tmp_path):
    """As the person names it."""
    Grants(paths.grants).add(question(project=str(tmp_path)), yes("project"))
    code, out, _ = glovebox(capsys, "revoke", "--project", str(tmp_path / "."), "--json")

    assert code == 0
    assert len(json.loads(out)["revoked"]) == 1
    assert "nothing stood" in glovebox(capsys, "revoke", "--all")[2]


def test_machines_get_the_question_and_how_it_is_shown(capsys, asked):
    """Data as it is, in ASCII, and beside it the escaped text."""
    code, out, _ = glovebox(capsys, "show", asked.id, "--json")
    row = json.loads(out)

    assert code == 0
    assert out.isascii()
    assert row["question"]["digest"] == asked.digest
    assert r"\x1b[2J" in row["shown"]
    assert "\x1b" not in row["shown"]
    assert row["status"] == "waiting"
    assert json.loads(glovebox(capsys, "list", "--json")[1])["questions"][0]["status"] == "waiting"
    assert (
        json.loads(glovebox(capsys, "answer", asked.id, "no", "--json")[1])["status"] == "answered"
    )


def test_long_command_is_cut_in_a_list_alone():
    """And escaped before it is cut."""
    assert short("x" * SHOWN) == "x" * SHOWN
    assert short("\x1b" * SHOWN) == "\\x1b" * 14 + "\\x1…"


def test_nothing_to_show_is_said(capsys, paths):  # noqa: ARG001 - an empty state
    """On stderr, so that stdout stays empty for pipes."""
    assert glovebox(capsys, "list")[1:] == ("", "no question waits, and no yes stands\n")


def test_directory_among_the_questions_is_named_with_a_next_step(capsys, asked, paths):
    """A question that might hide behind it is not passed over in silence."""
    odd = paths.questions / "0123456789ab.json"
    odd.mkdir(mode=0o700)

    code, _, told = glovebox(capsys, "list")
    assert code == 7
    assert f"{odd}: expected a regular file, got d" in told
    assert "move it away" in told

    odd.rmdir()
    code, listed, _ = glovebox(capsys, "list")
    assert (code, asked.id in listed) == (0, True)
