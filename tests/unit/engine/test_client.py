import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from orchestrator.engine.client import Engine, connect
from orchestrator.engine.patience import note_silence, session_patience
from orchestrator.errors import EngineError, EngineUnavailable


@pytest.fixture
def engine(scripted_engine) -> Iterator[Engine]:
    with closing(connect(scripted_engine.url)) as connected:
        yield connected


@pytest.mark.docker
def test_running_engine_is_described():
    """The real engine answers, is on this machine and can enforce every limit."""
    with closing(connect()) as real:
        info = real.info()

    assert info.local
    assert info.kernel == os.uname().release
    assert info.limits == {"memory": True, "pids": True, "cpu": True}
    assert "seccomp" in info.security_options


def test_environment_names_the_engine(scripted_engine):
    """DOCKER_HOST decides where no address is given."""
    with closing(connect(environ={"DOCKER_HOST": scripted_engine.url})) as found:
        assert found.url == scripted_engine.url


def test_address_given_beats_the_environment(scripted_engine):
    """An explicit address wins over DOCKER_HOST."""
    environ = {"DOCKER_HOST": "unix:///nowhere.sock"}

    with closing(connect(scripted_engine.url, environ=environ)) as found:
        assert found.url == scripted_engine.url


def test_docker_host_beats_a_context(scripted_engine):
    """As for the docker command, DOCKER_HOST wins over DOCKER_CONTEXT."""
    environ = {"DOCKER_HOST": scripted_engine.url, "DOCKER_CONTEXT": "elsewhere"}

    with closing(connect(environ=environ)) as found:
        assert found.url == scripted_engine.url


def test_unknown_context_is_refused():
    """A context that does not exist never falls back to the default engine."""
    with pytest.raises(EngineUnavailable, match="'no-such-context'") as caught:
        connect(environ={"DOCKER_CONTEXT": "no-such-context"})

    assert "docker context ls" in caught.value.hint


def test_current_context_of_the_docker_command_is_used(scripted_engine, tmp_path: Path):
    """The engine chosen by `docker context use` is found without any variable."""
    name = "chosen"
    meta = tmp_path / "contexts" / "meta" / sha256(name.encode()).hexdigest() / "meta.json"
    meta.parent.mkdir(parents=True)
    endpoints = {"docker": {"Host": scripted_engine.url, "SkipTLSVerify": False}}
    meta.write_text(json.dumps({"Name": name, "Metadata": {}, "Endpoints": endpoints}))
    (tmp_path / "config.json").write_text(json.dumps({"currentContext": name}))
    script = "from orchestrator.engine.client import connect; print(connect(environ={}).url)"

    # The SDK reads the folder's name from the process's environment, so a process it is.
    found = subprocess.run(
        [sys.executable, "-c", script],
        env={"DOCKER_CONFIG": str(tmp_path), "PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        check=True,
    )

    assert found.stdout.strip() == scripted_engine.url


def test_missing_socket_names_the_one_command(tmp_path: Path):
    """Where nothing listens, the hint is a command that sets the engine up."""
    with pytest.raises(EngineUnavailable, match="no such file or directory") as caught:
        connect(f"unix://{tmp_path}/none.sock")

    assert caught.value.hint.startswith("run `sudo sh /")
    script = caught.value.hint.removeprefix("run `sudo sh ").removesuffix("`")
    assert Path(script).is_file()


def test_refused_connection_speaks_of_the_named_engine():
    """A remote engine is not mended by installing a local one."""
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]

    with pytest.raises(EngineUnavailable, match="connection refused") as caught:
        connect(f"tcp://127.0.0.1:{port}")

    assert "sudo" not in caught.value.hint
    assert "DOCKER_HOST" in caught.value.hint


def test_something_else_on_the_socket_is_no_engine(scripted_engine):
    """A server that knows no version is refused in words."""
    scripted_engine.say("GET /version", (200, {"hello": "world"}))

    with pytest.raises(EngineUnavailable, match="ApiVersion"):
        connect(scripted_engine.url)


def test_version_is_read_off_a_ping(scripted_engine):
    """The long answer, for which an engine starts programs, is not asked for."""
    scripted_engine.say("GET /_ping", (200, "OK"))
    scripted_engine.headers["Api-Version"] = "1.43"

    with closing(connect(scripted_engine.url)) as found:
        assert found.api.api_version == "1.43"

    assert scripted_engine.asked == ["GET /_ping"]


def test_old_engine_is_refused_by_its_ping(scripted_engine):
    """What it says in few words counts as well."""
    scripted_engine.headers["Api-Version"] = "1.40"

    with pytest.raises(EngineError, match=r"expected API 1\.41 or newer, got 1\.40"):
        connect(scripted_engine.url)


def test_old_engine_is_refused_with_both_versions(scripted_engine):
    """An engine older than the box needs is refused; the message says which and how old."""
    scripted_engine.say("GET /version", (200, {"ApiVersion": "1.40"}))

    with pytest.raises(EngineError, match=r"expected API 1\.41 or newer, got 1\.40"):
        connect(scripted_engine.url)


def test_dropped_connection_is_opened_once_more_for_a_question(engine, scripted_engine):
    """A question whose kept connection was dropped is asked again, once."""
    scripted_engine.say("GET /info", (0, None), (200, {"KernelVersion": "6.1"}))

    assert engine.info().kernel == "6.1"
    assert scripted_engine.asked.count("GET /info") == 2


def test_engine_that_keeps_dropping_is_unavailable(engine, scripted_engine):
    """A second drop is an error, not a loop."""
    scripted_engine.say("GET /info", (0, None))

    with pytest.raises(EngineUnavailable, match="ask the engine about itself"):
        engine.info()

    assert scripted_engine.asked.count("GET /info") == 2


def test_answer_ends_a_silence(engine):
    """Also one that refuses: the engine is there."""
    with session_patience() as patience:
        note_silence()
        with pytest.raises(EngineError, match="the engine refused"):
            engine.info()

        assert not patience.silent


def test_change_is_never_sent_twice(engine, scripted_engine):
    """A change whose answer was lost may have been made; it is not repeated."""
    scripted_engine.say("POST /containers/x/start", (0, None))

    with pytest.raises(OSError, match="Connection aborted"):
        engine.api.start("x")

    assert scripted_engine.asked.count("POST /containers/x/start") == 1


def test_engine_with_another_kernel_is_not_local(engine, scripted_engine):
    """A local socket that leads into a virtual machine gives no right to host paths."""
    scripted_engine.say("GET /info", (200, {"KernelVersion": "0.0.1-elsewhere"}))

    assert not engine.info().local


def test_engine_with_this_kernel_on_this_machine_is_local(engine, scripted_engine):
    """A listener that this process can see, under the same kernel, shares its paths."""
    scripted_engine.say("GET /info", (200, {"KernelVersion": os.uname().release}))

    assert engine.info().local


def test_engine_is_asked_once_for_one_start(engine, scripted_engine):
    """Several places of it want to know, within a moment."""
    scripted_engine.say("GET /info", (200, {"KernelVersion": "6.1"}), (200, {}))

    assert engine.info() == engine.info()
    assert scripted_engine.asked.count("GET /info") == 1


def test_engine_that_ended_is_gone(tmp_path):
    """A glance at its socket tells, whether the file is still there or not."""
    path = tmp_path / "engine.sock"
    engine = Engine(api=None, url=f"unix://{path}", same_machine=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen(1)
        assert not engine.is_gone()
    assert engine.is_gone()
    path.unlink()

    assert engine.is_gone()
    assert not Engine(api=None, url="tcp://elsewhere:1", same_machine=False).is_gone()
