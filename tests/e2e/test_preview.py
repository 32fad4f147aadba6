"""A server in the box, reached from the host's loopback."""

import json
import signal
import socket
import time
import urllib.error
import urllib.request

import pytest

from tests.support.world import bash

pytestmark = pytest.mark.docker

SERVE = "mkdir -p site && echo hello-from-the-box > site/index.html && cd site && python3 -m http.server 8123 --bind 127.0.0.1"


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def fetch_soon(url):
    for _ in range(100):
        try:
            return fetch(url)
        except (OSError, urllib.error.URLError):
            time.sleep(0.1)
    raise AssertionError(f"{url} never answered")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


def records(world, session, *kinds):
    lines = (world.state / "audit" / f"{session}.jsonl").read_text().splitlines()
    return [line["body"] for line in map(json.loads, lines) if line["type"] in kinds]


def start_server(world, *arguments, command=SERVE):
    process = world.start(
        "run", "x", "-m", world.script(bash(command), {"text": "."}), "--json", *arguments
    )
    for line in process.stdout:
        event = json.loads(line)
        if event["type"] == "decision":
            return process, event["session"]
    raise AssertionError(process.stderr.read())


def end(process):
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


def test_preview_of_a_running_session(world):
    """The URL goes to stdout, the page comes, Ctrl-C ends it, and all of it is recorded."""
    process, session = start_server(world)
    viewing = world.start("preview", session, "8123", "--listen", "127.0.0.1:0")
    url = viewing.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:")
    assert fetch_soon(url) == "hello-from-the-box\n"
    viewing.send_signal(signal.SIGINT)
    _, told = viewing.communicate(timeout=30)
    end(process)

    assert viewing.returncode == 0
    assert "comes from the box" in told
    [start], [over] = (
        records(world, session, "preview_start"),
        records(world, session, "preview_end"),
    )
    assert (start["port"], start["who"]["via"]) == (8123, "preview")
    assert url == f"http://{start['listen']}/"
    assert over["connections"] >= 1
    assert over["bytes_out"] > 100


def test_preview_of_a_run_from_its_start(world):
    """``run --preview`` listens for as long as the run lasts."""
    port = free_port()
    process, session = start_server(
        world, "--preview", str(port), command=SERVE.replace("8123", str(port))
    )
    assert fetch_soon(f"http://127.0.0.1:{port}/") == "hello-from-the-box\n"
    end(process)

    assert records(world, session, "preview_start")[0]["who"]["via"] == "run"
    assert records(world, session, "preview_end")[0]["connections"] >= 1
    with pytest.raises(urllib.error.URLError):
        fetch(f"http://127.0.0.1:{port}/")


def test_preview_ends_with_its_session(world):
    """And says so."""
    process, session = start_server(world)
    viewing = world.start("preview", session, "8123", "--listen", "127.0.0.1:0")
    viewing.stdout.readline()
    end(process)
    _, told = viewing.communicate(timeout=30)

    assert viewing.returncode == 0
    assert "ended, and the preview with it" in told


def test_only_the_loopback_is_listened_on(world):
    """Refused before anything is asked of a session."""
    ended = world.run("preview", "0123", "80", "--listen", "0.0.0.0:8080")

    assert ended.code == 2
    assert "loopback" in ended.err
