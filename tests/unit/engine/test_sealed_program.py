"""A program alone in a container: what it prints comes out, and nothing else does."""

import secrets

import pytest

from orchestrator.engine.sealed_program import Sealed, run_sealed
from orchestrator.engine.volumes import Owner, create_volume, remove_volume
from orchestrator.errors import EngineError
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount

pytestmark = pytest.mark.docker


@pytest.fixture
def sealed(engine, sandbox_image, tmp_path):
    session = SessionId(secrets.token_hex(6))
    volume = f"glovebox-{session}-workspace"
    create_volume(engine, volume, owner=Owner(session, tmp_path))

    def make(script, **changes):
        given = {"session": session, "image": sandbox_image, "uid": 1000, "gid": 1000, **changes}
        mounts = (Mount("volume", volume, "/workspace"),)
        return Sealed(command=("/bin/sh", "-c", script), mounts=mounts, **given)

    yield make
    remove_volume(engine, volume)


def left(engine, program):
    label = f"glovebox.session={program.session}"
    return engine.api.containers(all=True, filters={"label": label})


def test_output_comes_whole_and_the_container_goes(engine, sealed):
    """Bytes of any value and number, the exit code, the last words."""
    program = sealed("head -c 3000000 /dev/zero; printf '\\377\\n'; echo why >&2; exit 7")

    with run_sealed(engine, program) as output:
        data = b"".join(output.pieces)

    assert len(data) == 3_000_002
    assert data.endswith(b"\xff\n")
    assert (output.exit_code, output.last_words, output.timed_out) == (7, "why", False)
    assert left(engine, program) == []


def test_program_has_nothing_but_its_mount(engine, sealed):
    """No network, no powers, no writing but to a small tmp, no root."""
    program = sealed(
        "id -u; grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status; ls /sys/class/net;"
        "echo x > /workspace/x || echo refused; echo x > /x || echo refused; env | sort",
        environment=("PATH=/usr/bin:/bin", "ONE=1"),
    )

    with run_sealed(engine, program) as output:
        said = b"".join(output.pieces).decode().split()

    assert said[0] == "1000"
    assert said[1:7] == ["NoNewPrivs:", "1", "Seccomp:", "2", "lo", "refused"] or (
        said.count("refused") == 2 and "0000000000000000" in said
    )
    assert said.count("refused") == 2
    assert "0000000000000000" in said
    assert not [word for word in said if word.startswith(("eth", "GLOVEBOX", "DOCKER"))]


def test_program_that_does_not_end_is_ended(engine, sealed):
    """And says so by a flag of its own."""
    with run_sealed(engine, sealed("echo a; sleep 600", seconds=0.5)) as output:
        assert b"".join(output.pieces) == b"a\n"

    assert output.timed_out
    assert output.exit_code == 137


def test_reader_that_stops_leaves_no_container(engine, sealed):
    """An endless writer is removed with its reader."""
    program = sealed("cat /dev/zero")

    with run_sealed(engine, program) as output:
        next(output.pieces)

    assert left(engine, program) == []


def test_root_is_refused(engine, sealed):
    """There is no reason for it."""
    with pytest.raises(EngineError, match="plain user"), run_sealed(engine, sealed("id", uid=0)):
        pass
