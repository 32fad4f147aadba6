import json

import pytest

pytestmark = pytest.mark.docker

RUN = """
import json, os, signal, time
from loop import Loop
from worker import Worker
loop = Loop()

def answer(work, act=lambda worker: None, **options):
    got = []
    worker = Worker(loop, config, 3, **options)
    worker.start(work, lambda found: (got.append(found), loop.stop()))
    loop.after(0.2, lambda: act(worker))
    loop._stopped = False
    loop.run()
    return got[0]
"""

SOURCE = (
    RUN
    + """
def slow():
    os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "777")
    time.sleep(60)

def left():
    words = [open(f"/proc/{n}/cmdline").read() for n in os.listdir("/proc") if n.isdigit()]
    return sum("777" in word for word in words if "toolserver" not in word)

def crash():
    raise RuntimeError("slipped")

print(json.dumps({
    "identity": answer(lambda: {"data": [os.getuid(), os.getgid(), os.getgroups()]}),
    "large": len(answer(lambda: {"data": "x" * 3_000_000})["data"]),
    "too large": answer(lambda: {"data": "x" * 17_000_000})["code"],
    "timeout": answer(slow, time_limit=0.5)["code"],
    "cancelled": answer(slow, lambda worker: worker.end("cancelled"))["code"],
    "killed": answer(slow, lambda worker: os.kill(worker.pid, signal.SIGKILL))["code"],
    "crash": answer(crash),
}))
"""
)


@pytest.fixture(scope="module")
def found(stage):
    text = stage.play(lambda scene: scene.as_server(SOURCE))
    # What the worker that fails says comes on another stream, before it or after it.
    return json.loads(next(line for line in text.splitlines() if line.startswith("{")))


def test_worker_works_as_the_command_user(found):
    """It reads and writes what a command could, no more."""
    assert found["identity"]["data"] == [1000, 1000, []]


def test_large_answer_arrives_and_a_larger_one_does_not(found):
    """Answers are bounded."""
    assert found["large"] == 3_000_000
    assert found["too large"] == "too_large"


def test_worker_that_takes_too_long_is_ended(found):
    """A file operation has a time limit."""
    assert found["timeout"] == "timeout"


def test_worker_can_be_cancelled(found):
    """The caller does not wait for what it no longer wants."""
    assert found["cancelled"] == "cancelled"


def test_worker_that_dies_is_an_error(found):
    """No answer is an answer too."""
    assert found["killed"] == "gone"


def test_slip_in_an_operation_is_an_error_of_the_call(found):
    """The server outlives whatever goes wrong in a worker."""
    assert found["crash"] == {"error": "RuntimeError: slipped", "code": "failed"}
