"""The writer: on disk before it returns, signed in time, resumed without forgetting anything."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.audit.chain import verify_chain
from orchestrator.audit.files import ChainFile
from orchestrator.audit.log import AuditLog
from orchestrator.audit.payload import payload_path
from orchestrator.audit.signer import Signer
from orchestrator.errors import AuditError, AuditUnavailable
from orchestrator.schema.ids import Digest, SessionId

from .conftest import GENESIS, SESSION, TurnedClock, file_size_limit

Make = Callable[[], AuditLog]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def types(path: Path) -> list[str]:
    return [record["type"] for record in records(path)]


def state(path: Path) -> str:
    with path.open("rb") as file:
        return str(verify_chain(file))


def test_genesis_binds_session_policy_image_and_key(
    create: Make, path: Path, signer: Signer
) -> None:
    """The first record says under what everything after it happened."""
    create()

    assert records(path)[0]["body"] == {
        **GENESIS,
        "version": 1,
        "session": SESSION,
        "public_key": signer.public_key,
    }


def test_record_is_in_the_file_when_append_returns(create: Make, path: Path) -> None:
    """The intent can be read by another process before its effect."""
    log = create()

    seq = log.append("intent", {"call": "c1"})

    assert seq == 1
    assert records(path)[1]["body"] == {"call": "c1"}
    assert log.head.seq == 1


def test_closed_log_verifies_as_closed_and_takes_nothing_more(create: Make, path: Path) -> None:
    """The end is signed and final."""
    log = create()
    log.append("intent", {"call": "c1"})
    log.append("outcome", {"call": "c1"})

    log.close()
    log.close()

    assert state(path) == "intact, closed"
    with pytest.raises(AuditUnavailable, match="is closed"):
        log.append("intent", {"call": "c2"})


def test_log_is_signed_after_sixty_four_records(create: Make, path: Path) -> None:
    """Never more than 64 records are without a signature over them."""
    log = create()
    for at in range(130):
        log.append("note", {"at": at})

    kinds = types(path)
    assert [at for at, kind in enumerate(kinds) if kind == "checkpoint"] == [64, 129]
    assert state(path) == "intact, open"


def test_log_is_signed_with_the_next_record_after_five_seconds(
    create: Make, path: Path, clock: TurnedClock
) -> None:
    """A slow session is signed as it goes."""
    log = create()
    log.append("note", {})
    clock.turn(4.9)
    log.append("note", {})
    assert "checkpoint" not in types(path)

    clock.turn(0.1)
    log.append("note", {})

    assert types(path)[-1] == "checkpoint"


def test_waiting_records_are_signed_when_asked(
    create: Make, path: Path, clock: TurnedClock
) -> None:
    """An idle session's last records do not stay unsigned."""
    log = create()
    assert not log.checkpoint_due()

    clock.turn(5)

    assert log.checkpoint_due()
    assert types(path) == ["genesis", "checkpoint"]
    clock.turn(60)
    assert not log.checkpoint_due()


@pytest.mark.parametrize(
    "record_type", ["genesis", "checkpoint", "close", "recovered", "resumed", "", "Intent", "a b"]
)
def test_type_of_the_log_itself_cannot_be_written(create: Make, record_type: str) -> None:
    """No caller can pose as the log."""
    with pytest.raises(AuditError, match="expected a free lower-case word"):
        create().append(record_type, {})


def test_body_that_is_no_json_is_refused_and_leaves_no_trace(create: Make, path: Path) -> None:
    """What cannot be recorded does not half happen."""
    log = create()

    with pytest.raises(AuditError):
        log.append("intent", {"call": "c1", "bad": object()})

    assert types(path) == ["genesis"]
    assert log.append("intent", {"call": "c1"}) == 1


def test_large_field_is_stored_beside_the_chain(create: Make, path: Path) -> None:
    """A record stays short; its payload is there before it."""
    create().append("intent", {"call": "c1", "content": "x" * 50_000})

    record = records(path)[1]
    reference = record["body"]["payloads"]["content"]
    assert record["body"]["call"] == "c1"
    assert json.loads(payload_path(path, Digest(reference["digest"])).read_bytes()) == "x" * 50_000
    assert path.stat().st_size < 2_000


def test_session_is_refused_while_another_process_writes(create: Make, resume: Make) -> None:
    """One chain, one writer."""
    create()

    with pytest.raises(AuditUnavailable, match="another process"):
        resume()


def test_chain_is_never_begun_twice(create: Make) -> None:
    """Creating again cannot wipe the past."""
    create().close()

    with pytest.raises(AuditError, match="a chain is there already"):
        create()


def test_crashed_session_is_resumed_with_its_interrupted_calls(
    create: Make, resume: Make, path: Path
) -> None:
    """The first new record tells which calls may or may not have taken effect."""
    log = create()
    log.append("intent", {"call": "c1"})
    log.append("outcome", {"call": "c1"})
    log.append("intent", {"call": "c2"})
    log._file.close()

    resume().append("intent", {"call": "c3"})

    assert types(path)[4:] == ["recovered", "intent"]
    assert records(path)[4]["body"] == {"interrupted": [{"call": "c2", "intent": 3}]}
    assert state(path) == "intact, open"


WRITE_FOR_EVER = """
import sys
from pathlib import Path
from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
log = AuditLog.create(
    Path(sys.argv[1]), session="0123456789ab", genesis={}, signer=Signer(bytes(range(32)))
)
while True:
    print(log.append("intent", {"call": "c", "text": "x" * 3000}), flush=True)
"""


def test_killed_writer_has_lost_nothing_it_acknowledged(resume: Make, path: Path) -> None:
    """SIGKILL at any moment leaves a chain that holds up to the last acknowledged record."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITE_FOR_EVER, str(path)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    ) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(50)]
        writer.kill()
        acknowledged += [int(line) for line in writer.stdout.read().split()]

    resume().close()

    assert state(path) == "intact, closed"
    seqs = [record["seq"] for record in records(path) if record["type"] == "intent"]
    assert set(acknowledged) <= set(seqs)
    assert records(path)[-2]["type"] == "recovered"


def test_closed_session_is_resumed_by_a_record_of_its_own(
    create: Make, resume: Make, path: Path
) -> None:
    """Going on after a signed end is visible."""
    create().close()

    resume().close()

    assert types(path) == ["genesis", "close", "resumed", "close"]
    assert state(path) == "intact, closed"


def test_torn_last_line_is_kept_aside_and_named(create: Make, resume: Make, path: Path) -> None:
    """Half a record was never acknowledged; its bytes stay for whoever asks."""
    create()._file.close()
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"body":{"call":"c1"')

    resume()

    body = records(path)[1]["body"]
    torn = body["payloads"]["torn"]
    assert body["interrupted"] == []
    assert torn["bytes"] == 20
    assert payload_path(path, Digest(torn["digest"])).read_bytes() == b'{"body":{"call":"c1"'
    assert path.read_bytes().startswith(whole)


def test_broken_chain_is_never_continued(create: Make, resume: Make, path: Path) -> None:
    """A forged past does not get a genuine future."""
    log = create()
    log.append("note", {"text": "one"})
    log.close()
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))

    with pytest.raises(AuditError, match="broken at seq 1: the hash does not fit") as caught:
        resume()
    assert "never continued" in caught.value.hint


def test_chain_that_is_only_a_torn_line_is_not_continued(resume: Make, path: Path) -> None:
    """Without its first record a chain binds nothing."""
    path.parent.mkdir()
    path.write_bytes(b'{"body"')

    with pytest.raises(AuditError, match="no record"):
        resume()


def test_resumption_by_another_key_is_refused(create: Make, path: Path) -> None:
    """A chain has one signer."""
    create().close()

    with pytest.raises(AuditError, match="another key"):
        AuditLog.resume(path, session=SESSION, signer=Signer(bytes(32)))


def test_resumption_of_another_session_is_refused(create: Make, path: Path, signer: Signer) -> None:
    """A chain file in another's place is noticed."""
    create().close()

    with pytest.raises(AuditError, match="expected session ffffffffffff"):
        AuditLog.resume(path, session=SessionId("ffffffffffff"), signer=signer)


def test_refused_resumption_gives_the_chain_free(create: Make, resume: Make, path: Path) -> None:
    """A failed attempt holds no lock."""
    create().close()
    with pytest.raises(AuditError):
        AuditLog.resume(path, session=SESSION, signer=Signer(bytes(32)))

    resume().close()


def test_failed_creation_leaves_nothing(create: Make, path: Path) -> None:
    """A genesis that the disk refused is begun again as if nothing had been."""
    with file_size_limit(100), pytest.raises(AuditUnavailable):
        create()
    assert not path.exists()

    create().close()

    assert state(path) == "intact, closed"


def test_failed_append_leaves_the_chain_ready(create: Make, path: Path) -> None:
    """When the trouble is over, the next record continues where the last good one was."""
    log = create()
    content = path.read_bytes()
    path.write_bytes(content + b"intruder")
    with pytest.raises(AuditUnavailable, match="something else wrote"):
        log.append("note", {})
    path.write_bytes(content)

    log.append("note", {})
    log.close()

    assert state(path) == "intact, closed"


def test_failed_close_gives_the_file_free(create: Make, resume: Make, path: Path) -> None:
    """Even an end that cannot be signed ends the writer."""
    log = create()
    content = path.read_bytes()
    path.write_bytes(content + b"intruder")
    with pytest.raises(AuditUnavailable):
        log.close()
    path.write_bytes(content)

    resume().close()


def test_threads_share_one_chain(create: Make, path: Path) -> None:
    """Parallel calls record in some order, never over each other."""
    log = create()
    threads = [
        threading.Thread(target=lambda: [log.append("note", {}) for _ in range(20)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()

    assert state(path) == "intact, closed"
    assert types(path).count("note") == 80


def test_system_clock_is_the_default(path: Path, signer: Signer) -> None:
    """Records carry the time of day."""
    AuditLog.create(path, session=SESSION, genesis=GENESIS, signer=signer).close()

    assert records(path)[0]["time"].startswith("20")


def test_log_without_record_has_no_head(path: Path, signer: Signer, clock: TurnedClock) -> None:
    """Nobody can export a head that is not there."""
    file = ChainFile.create(path)
    log = AuditLog(file, signer, session=SESSION, head=None, clock=clock.clock)

    with pytest.raises(AuditError, match="has no record yet"):
        _ = log.head


def test_several_records_are_on_disk_together(create: Make, path: Path) -> None:
    """In their order, each linked to the one before, and counted for the signature."""
    log = create()
    seqs = log.append_all([("egress", {"n": number}) for number in range(70)])

    assert seqs == list(range(1, 71))
    assert [record["body"]["n"] for record in records(path)[1:71]] == list(range(70))
    assert types(path)[-1] == "checkpoint"
    assert state(path) == "intact, open"


def test_several_records_are_all_there_or_none(create: Make, path: Path) -> None:
    log = create()
    with pytest.raises(AuditError):
        log.append_all([("egress", {}), ("genesis", {})])

    assert types(path) == ["genesis"]
    assert log.append_all([]) == []
    log.append("egress", {})
    assert state(path) == "intact, open"


def test_record_that_does_not_wait_for_the_disk_is_in_the_chain(create: Make, path: Path) -> None:
    """Between others, and signed as they are."""
    log = create()
    log.append("egress", {"n": 0})
    seqs = [log.append_soon("egress", {"n": number}) for number in range(1, 70)]
    log.sync()

    assert seqs == list(range(2, 64)) + list(range(65, 72))
    assert types(path).count("checkpoint") == 1
    assert state(path) == "intact, open"


def test_many_threads_write_one_chain(create: Make, path: Path) -> None:
    """Those that wait for the disk, those that do not, and who signs meanwhile."""
    log = create()

    def write(number: int) -> None:
        for _ in range(40):
            log.append("egress", {}) if number % 2 else log.append_soon("egress", {})
            log.checkpoint_due()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()

    assert types(path).count("egress") == 240
    assert state(path) == "intact, closed"
