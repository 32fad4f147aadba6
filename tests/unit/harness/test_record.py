"""What a session leaves behind: begun, closed, taken up again."""

from pathlib import Path

import pytest

from orchestrator.audit.chain import verify_chain
from orchestrator.config.paths import Paths
from orchestrator.errors import AuditError, AuditUnavailable, SessionBusy, SessionError, UsageError
from orchestrator.harness.forking import TOLD
from orchestrator.harness.options import RunOptions
from orchestrator.harness.record import RESTARTED, open_record
from orchestrator.policy.load import load_policy
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import digest_of
from orchestrator.schema.message import AssistantMessage, Text, UserMessage
from orchestrator.schema.posture import Posture
from orchestrator.sessions.store import SessionStore

IMAGE = digest_of(b"image")
POSTURE = Posture({"seccomp": True}, {"kernel": "6"})


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path / "state", tmp_path / "config")


@pytest.fixture(scope="module")
def policy():
    return load_policy(["default"], search=Path("policies"), user_file=None)


def options(tmp_path, **more):
    given = {"prompt": "do it", "directory": tmp_path, "model": "scripted:x"}
    return RunOptions(**(given | more))


def live(tmp_path, policy, paths, **more):
    """Go through one whole session; return its record."""
    with open_record(options(tmp_path, **more), paths) as record:
        record.start(policy, IMAGE, POSTURE, model="scripted/x", brought={})
        record.open_turn(options(tmp_path, **more).prompt, lambda message: message)
        record.note_end(status="done")
    return record


def chain(paths, record):
    return verify_chain(paths.audit_log(record.session).read_bytes().splitlines(keepends=True))


def test_session_has_its_file_and_a_closed_chain(tmp_path, policy, paths):
    """Under one id, in the project's folder, bound to policy and image."""
    record = live(tmp_path, policy, paths)
    text = paths.audit_log(record.session).read_text()

    assert record.file.parent == paths.project_sessions(tmp_path)
    assert record.file.name.endswith(f"_{record.session}.jsonl")
    assert len(record.session) == 12
    assert chain(paths, record).state == "closed"
    assert policy.digest in text
    assert IMAGE in text
    assert '"type":"session_end"' in text
    assert not record.resumed


def test_no_chain_no_action(tmp_path, paths):
    """Before the chain is open there is nothing to record with, so nothing to act with."""
    with open_record(options(tmp_path), paths) as record, pytest.raises(AuditUnavailable):
        _ = record.audit


def test_session_that_never_came_up_leaves_no_chain(tmp_path, paths):
    """A box that does not start is no session: nothing to audit, nothing to go on with."""
    with open_record(options(tmp_path), paths) as record:
        pass

    assert not paths.audit_log(record.session).exists()
    assert not paths.sessions.exists()


def test_chain_is_closed_and_the_lease_given_up_whatever_happens(tmp_path, policy, paths):
    """A failure in the run does not make its record unreadable."""
    kept = []

    def fail():
        with open_record(options(tmp_path), paths) as record:
            record.start(policy, IMAGE, POSTURE, model="m", brought={})
            kept.append(record)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    (record,) = kept

    assert chain(paths, record).state == "closed"
    live(tmp_path, policy, paths, resume=record.session)


def test_prompt_is_redacted_before_it_is_stored(tmp_path, policy, paths):
    """A key in a prompt does not end up in a file."""

    def scrub(message):
        return UserMessage((Text(message.content[0].text.replace("hunter2", "***")),))

    with open_record(options(tmp_path), paths) as record:
        record.start(policy, IMAGE, POSTURE, model="m", brought={})
        record.open_turn("use hunter2", scrub)

    assert "hunter2" not in record.file.read_text()


def test_resumed_session_goes_on_in_both_files(tmp_path, policy, paths):
    """By a prefix of its id; the model is told of the new box, the chain of the resumption."""
    first = live(tmp_path, policy, paths)
    again = live(tmp_path, policy, paths, resume=first.session[:8], prompt="go on")
    text = paths.audit_log(first.session).read_text()

    assert (again.session, again.resumed) == (first.session, True)
    assert [part.text for part in again.transcript.messages()[1].content] == [RESTARTED, "go on"]
    assert chain(paths, again).state == "closed"
    assert '"type":"resumed"' in text
    assert text.count('"type":"session_start"') == 2


def test_resumed_session_may_go_on_without_a_word(tmp_path, policy, paths):
    """The note of the new box is enough."""
    first = live(tmp_path, policy, paths)
    again = live(tmp_path, policy, paths, resume=first.session, prompt=None)

    assert [part.text for part in again.transcript.messages()[1].content] == [RESTARTED]


def test_continue_takes_the_newest_session_of_the_directory(tmp_path, policy, paths):
    """Never one of another directory."""
    here, there = tmp_path / "here", tmp_path / "there"
    first = live(here, policy, paths)
    live(there, policy, paths)

    assert live(here, policy, paths, resume_latest=True).session == first.session


def test_continue_without_a_session_says_so(tmp_path, paths):
    """No new one is begun in silence."""
    with (
        pytest.raises(SessionError, match="no session"),
        open_record(options(tmp_path, resume_latest=True), paths),
    ):
        pass

    assert not list(paths.state.rglob("*.jsonl"))


def test_resume_in_another_directory_is_refused_and_frees_the_session(tmp_path, policy, paths):
    """The agent would work on other files than it remembers."""
    first = live(tmp_path / "here", policy, paths)

    with (
        pytest.raises(UsageError) as caught,
        open_record(options(tmp_path / "there", resume=first.session), paths),
    ):
        pass

    assert caught.value.hint == f"add -C {tmp_path / 'here'}"
    live(tmp_path / "here", policy, paths, resume=first.session)


def test_session_that_is_open_elsewhere_is_refused(tmp_path, policy, paths):
    """One writer."""
    with open_record(options(tmp_path), paths) as record:
        record.start(policy, IMAGE, POSTURE, model="m", brought={})
        with (
            pytest.raises(SessionBusy),
            open_record(options(tmp_path, resume=record.session), paths),
        ):
            pass


def test_chain_that_was_changed_is_not_continued(tmp_path, policy, paths):
    """A session whose record does not hold does not go on."""
    first = live(tmp_path, policy, paths)
    log = paths.audit_log(first.session)
    log.write_bytes(log.read_bytes().replace(b"scripted/x", b"scripted/y"))

    with (
        open_record(options(tmp_path, resume=first.session), paths) as record,
        pytest.raises(AuditError, match="broken"),
    ):
        record.start(policy, IMAGE, POSTURE, model="m", brought={})


@pytest.mark.parametrize("left", [b"", b'{"seq":0,"type":"gene'])
def test_chain_whose_first_record_was_never_whole_begins_anew(tmp_path, policy, paths, left):
    """Its process was killed while it wrote that: nothing has happened that it could tell of."""
    first = live(tmp_path, policy, paths)
    paths.audit_log(first.session).write_bytes(left)

    live(tmp_path, policy, paths, resume=first.session)

    assert chain(paths, first).state == "closed"


def test_chain_that_is_empty_where_a_model_has_answered_is_not_continued(tmp_path, policy, paths):
    """Somebody has emptied it."""
    first = live(tmp_path, policy, paths)
    with SessionStore.open(first.file) as store:
        store.append("message", encode_message(AssistantMessage((Text("x"),), "end_turn")))
    paths.audit_log(first.session).write_bytes(b"")

    with (
        open_record(options(tmp_path, resume=first.session), paths) as record,
        pytest.raises(AuditError, match="broken"),
    ):
        record.start(policy, IMAGE, POSTURE, model="m", brought={})


def test_fork_goes_on_in_a_copy_and_is_told_of_its_box(tmp_path, policy, paths):
    """The first run of a copy is a beginning: nothing of its box was there before."""
    first = live(tmp_path, policy, paths)
    before = first.file.read_bytes()

    copy = live(tmp_path, policy, paths, resume=first.session, fork=True, prompt="other way")
    again = live(tmp_path, policy, paths, resume=copy.session)

    assert copy.session != first.session
    assert first.file.read_bytes() == before
    assert not copy.resumed
    assert again.resumed
    with open_record(options(tmp_path, resume=copy.session), paths) as record:
        said = [message.content for message in record.store.messages()]
    assert said == [
        (Text("do it"),),
        (Text(TOLD), Text("other way")),
        (Text(RESTARTED), Text("do it")),
    ]


def test_fork_that_does_not_come_up_leaves_no_session(tmp_path, policy, paths):
    """As any other run that failed."""
    first = live(tmp_path, policy, paths)
    wrong = options(tmp_path / "there", resume=first.session, fork=True)

    with open_record(options(tmp_path, resume=first.session, fork=True), paths):
        pass
    with pytest.raises(UsageError), open_record(wrong, paths):
        pass

    assert list(paths.sessions.rglob("*.jsonl")) == [first.file]
