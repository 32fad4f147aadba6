import json

import pytest

pytestmark = pytest.mark.docker

SPARED = """
import json, os, select
from spare import Spare, reserve_descriptors
from terminal import Terminal
reserve_descriptors()

def run(command, spare, given=b""):
    spare.start(command.encode(), b"/workspace", 12345)
    if given:
        os.write(spare.input, given)
        spare.close_input()
    said = b""
    while True:
        select.select([spare.output], [], [], 20)
        piece = spare.read(65536)
        if not piece:
            break
        said += piece
    status = os.waitstatus_to_exitcode(os.waitpid(spare.pid, 0)[1])
    failure = spare.failure()
    spare.discard()
    return [said.decode(), status, failure]
"""

FACTS = (
    "tty; stty size; echo $TERM; ps -o sid= -p $$ | tr -d ' ' | grep -qx $$ && echo leader; "
    "ps -o tty= -p $$ | grep -q pts && echo controlled; stat -c '%u %a' $(tty); "
    "id -u; grep -h CapEff /proc/self/status; cat /proc/self/oom_score_adj; "
    "ls /proc/self/fd"
)


def as_server(stage, source):
    async def scene(scene):
        return json.loads(await scene.as_server(SPARED + source))

    return stage.play(scene)


def test_terminal_is_the_commands_own(stage):
    """It controls the session, has the size that was asked for, and belongs to the user."""
    said, status, failure = as_server(
        stage,
        f"""
print(json.dumps(run({FACTS!r}, Spare(config, witness=None, terminal=Terminal(config, columns=91, rows=17)))))
""",
    )

    lines = said.split("\r\n")
    assert (status, failure) == (0, None)
    assert lines[0].startswith("/dev/pts/")
    assert lines[1:-1] == [
        "17 91", "xterm-256color", "leader", "controlled", "1000 620", "1000",
        "CapEff:\t" + "0" * 16, "1000", "0  1  2  3",
    ]  # fmt: skip


def test_size_can_change_and_is_bounded(stage):
    """The foreground is told, and an absurd size is brought down."""
    said, status, _ = as_server(
        stage,
        """
terminal = Terminal(config)
spare = Spare(config, witness=None, terminal=terminal)
terminal.resize(10**9, 0)
print(json.dumps(run("stty size", spare)))
""",
    )

    assert (said, status) == ("1 1000\r\n", 0)


def test_pipe_carries_input_to_its_end(stage):
    """What is written is read, and then there is no more."""
    said, status, failure = as_server(
        stage,
        """
print(json.dumps(run("wc -c; readlink /proc/self/fd/0", Spare(config, witness=None, takes_input=True), b"four")))
""",
    )

    assert said.startswith("4\npipe:")
    assert (status, failure) == (0, None)


def test_nothing_is_left_open(stage):
    """Whatever kind it was, the server has as many descriptors as before."""
    found = as_server(
        stage,
        """
before = len(os.listdir("/proc/self/fd"))
for _ in range(3):
    run("true", Spare(config, witness=None))
    run("cat", Spare(config, witness=None, takes_input=True), b"x")
    run("true", Spare(config, witness=None, terminal=Terminal(config)))
    Spare(config, witness=None, terminal=Terminal(config)).discard()
    Spare(config, witness=None, takes_input=True).discard()
print(json.dumps([before, len(os.listdir("/proc/self/fd"))]))
""",
    )

    assert found[0] == found[1]
