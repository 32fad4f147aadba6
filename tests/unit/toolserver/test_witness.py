"""What the box sees of the programs that commands start, in a real one."""

import time

import anyio
import pytest

from orchestrator.schema.request import ExecRequest, ProcessStart

pytestmark = pytest.mark.docker

MEMFD = """
import ctypes, os
fd = os.memfd_create("hidden")
os.write(fd, open("/usr/bin/uname", "rb").read())
os.execve(fd, ["hidden", "-s"], {})
"""
STATIC = """
cat > a.c <<'END'
int main(void) { return 0; }
END
gcc -static -o a a.c
"""


class Ear:
    """Hears reports, and ends what starts a certain program."""

    def __init__(self, ends=""):
        self.execs, self.unlisted, self.overflow = [], 0, False
        self._ends = ends
        self.ended = anyio.Event()

    def __call__(self, report):
        for item in report.execs:
            # A search through PATH that two reports share is told twice.
            last = self.execs[-1] if self.execs else None
            if last is not None and (last.pid, last.argv) == (item.pid, item.argv):
                self.execs.pop()
            self.execs.append(item)
        self.unlisted += report.unlisted
        self.overflow = self.overflow or report.overflow
        if report.last:
            self.ended.set()
        return bool(self._ends) and any(self._ends in item.argv for item in report.execs)

    def words(self):
        return [" ".join(item.argv) for item in self.execs]


def heard(stage, command, *, ear=None, **changes):
    """Return what one command started, and how it ended."""
    ear = ear or Ear()

    async def scene(scene):
        request = ExecRequest(command, "/workspace", 60.0)
        outcome = await scene.box.execute(request, on_execs=ear)
        assert outcome.error is None, outcome.error
        return outcome.data

    return ear, stage.play(scene, **changes)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("true", []),
        ("ls /; /bin/echo a 'b c'", ["ls /", "/bin/echo a b c"]),
        ("env -i /usr/bin/id", ["env -i /usr/bin/id", "/usr/bin/id"]),
        ("nice uname", ["nice uname", "uname"]),
        ("sh -c 'exec date'", ["sh -c exec date", "date"]),
        (
            "echo '/bin/date' > s; printf '#!/bin/sh\\ndate\\n' > s; chmod +x s; ./s",
            ["./s", "date"],
        ),
    ],
    ids=["builtin", "plain", "emptied", "path", "nested", "script"],
)
def test_every_program_is_seen_with_its_arguments(stage, command, words):
    """In order, once each, however it is started; what the shell does itself starts nothing."""
    ear, _ = heard(stage, command)
    shown = [word for word in ear.words() if not word.startswith("chmod")]

    assert shown == words


def test_parents_are_told(stage):
    """By number; what replaces its own program keeps it."""
    ear, _ = heard(stage, "sh -c 'date; true'")
    outer, inner = ear.execs

    assert inner.parent == outer.pid


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("import os; os.execv('/usr/bin/uname', ['innocent'])", "/usr/bin/uname"),
        (MEMFD, ""),
    ],
    ids=["another-name", "no-file"],
)
def test_program_that_hides_its_name_is_seen(stage, source, path):
    """By the file as well as by the name it gives itself."""
    ear, data = heard(stage, f"python3 - <<'END'\n{source}\nEND")
    found = ear.execs[-1]

    assert data["exit_code"] == 0
    assert found.argv[0] in {"innocent", "hidden"}
    assert found.path.startswith(path)


def test_interpreter_of_a_script_is_told(stage):
    """Also where the interpreter is a script itself; the kernel starts it without a word."""
    ear, _ = heard(
        stage,
        "printf '#!/usr/bin/env  -S git\\n' > inner; printf '#!/workspace/inner push\\n' > outer; "
        "chmod +x inner outer; ./outer a; true",
    )
    found = next(item for item in ear.execs if item.path == "./outer")

    assert found.real == "/workspace/outer"
    assert found.lines == ("/workspace/inner push", "/usr/bin/env  -S git")
    assert found.argv == ("./outer", "a")


def test_file_behind_a_link_and_the_asking_program_are_told(stage):
    """The real file, whatever leads to it; none where nothing can start."""
    ear, _ = heard(
        stage,
        "ln -s /usr/bin/git g; ./g version; cd /; ../workspace/g version; "
        "python3 -c \"import os; os.path.exists('x') or os.execv('/nowhere/x', ['x'])\"",
    )
    real = {item.path: item.real for item in ear.execs}
    by = {item.path: item.by for item in ear.execs}

    assert real["./g"] == real["../workspace/g"] == "/usr/bin/git"
    assert real["/nowhere/x"] == ""
    assert by["./g"] == "/opt/glovebox/bash"
    assert by["/nowhere/x"].startswith("/usr/bin/python3")


@pytest.mark.parametrize("path", ["/proc/self/fd/9", "/dev/fd/9", "/proc/thread-self/fd/9"])
def test_own_names_of_a_process_are_its_own(stage, path):
    """They lead elsewhere for whoever looks at them from outside."""
    source = (
        f"import os; os.dup2(os.open('/usr/bin/git', os.O_RDONLY), 9); os.execv('{path}', ['x'])"
    )
    ear, _ = heard(stage, f'python3 -c "{source}"')

    assert ear.execs[-1].real in {"/usr/bin/git", ""}
    assert "thread" in path or ear.execs[-1].real


def test_many_arguments_are_kept(stage):
    """A thousand words and 16 KiB; beyond that it is told that there are more."""
    ear, _ = heard(
        stage, "/bin/true $(seq 900); /bin/true $(seq 2000); /bin/true $(printf '%020000d' 1)"
    )
    few, many, long = (item for item in ear.execs if item.path == "/bin/true")

    assert len(few.argv) == 901
    assert not few.cut
    assert many.cut
    assert long.cut


def test_static_program_and_loader_are_seen(stage):
    """Nothing in the program has to take part."""
    loader = "/lib64/ld-linux-x86-64.so.2"
    ear, data = heard(stage, f"{STATIC} ./a && {loader} /usr/bin/uname")

    assert data["exit_code"] == 0
    assert ear.words()[-2:] == ["./a", f"{loader} /usr/bin/uname"]


def test_process_that_shuts_others_out_is_told_as_such(stage):
    """It lets nobody read its memory, so that what it starts is unknown, not unseen."""
    source = "import ctypes, os; ctypes.CDLL(None).prctl(4, 0); os.execv('/bin/date', ['date'])"
    ear, _ = heard(stage, f'python3 -c "{source}"')

    assert ear.execs[-1].unreadable


def test_background_program_is_heard_after_the_outcome(stage):
    """As long as anything of the command lives; then that this was all."""
    ear = Ear()

    async def scene(scene):
        request = ExecRequest("(sleep 0.3; /bin/date; sleep 0.1) > /dev/null &", "/workspace", 9.0)
        await scene.box.execute(request, on_execs=ear)
        before = len(ear.execs)
        with anyio.fail_after(20):
            await ear.ended.wait()
        return before

    before = stage.play(scene)

    assert "/bin/date" in ear.words()[before:]


def test_started_process_is_heard_and_can_be_ended(stage):
    """With a handle, long after the call that started it."""
    ear = Ear(ends="END")

    async def scene(scene):
        start = ProcessStart("sleep 0.3; env true END; sleep 60", "/workspace", "web")
        await scene.box.execute(start, on_execs=ear)
        with anyio.fail_after(20):
            await ear.ended.wait()

    started = time.monotonic()
    stage.play(scene)

    assert time.monotonic() - started < 50
    assert "sleep 0.3" in ear.words()


def test_word_of_the_host_ends_the_command(stage):
    """With all that it started, and the outcome says why."""
    _ear, data = heard(stage, "sleep 100 & env true END; sleep 100", ear=Ear(ends="END"))

    assert data["limit"] == "policy"
    assert data["signal"] == 9


def test_word_of_the_host_ends_what_outlived_its_command(stage):
    """A command that has ended cannot be told, but what it left can."""
    ear = Ear(ends="END")

    async def scene(scene):
        request = ExecRequest(
            "(sleep 0.3; env true END; sleep 100) > /dev/null &", "/workspace", 9.0
        )
        await scene.box.execute(request, on_execs=ear)
        with anyio.fail_after(20):
            await ear.ended.wait()

    stage.play(scene)

    assert any("END" in word for word in ear.words())


def test_new_program_is_listed_however_many_old_ones_came_before(stage):
    """Repetitions are counted after a while; nothing can hide behind them."""
    loop = "i=0; while [ $i -lt 3000 ]; do /bin/true; i=$((i+1)); done; /bin/date"
    ear, _ = heard(stage, loop)

    assert ear.unlisted > 0
    assert len(ear.execs) + ear.unlisted == 3001
    assert ear.words()[-1] == "/bin/date"


def test_own_listener_is_refused_and_own_filter_changes_nothing(stage):
    """A command can neither take the witness's place nor let its programs past it."""
    source = """
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
steps = struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)
steps = ctypes.create_string_buffer(steps)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(steps)))
print(libc.syscall(317, 1, 8, program), ctypes.get_errno())
print(libc.syscall(317, 1, 0, program))
import os
os.execv("/bin/date", ["date", "+x"])
"""
    ear, data = heard(stage, f"python3 -u - <<'END'\n{source}\nEND")

    assert data["head"].splitlines() == ["-1 16", "0", "x"]
    assert ear.words()[-1] == "date +x"


def test_witness_that_was_lost_is_replaced(stage):
    """Until then nothing starts; afterwards all is seen again."""
    ear = Ear()

    async def scene(scene):
        killed = await scene.as_server(
            "import os,signal\n"
            "for pid in os.listdir('/proc'):\n"
            "    if pid.isdigit() and open(f'/proc/{pid}/comm').read() == 'witness\\n':\n"
            "        os.kill(int(pid), signal.SIGKILL); print('killed'); break\n"
        )
        assert "killed" in killed
        request = ExecRequest("/bin/date", "/workspace", 30.0)
        outcome = await scene.box.execute(request, on_execs=ear)
        if outcome.error is not None:
            # It came before the loss was noticed: its shell could not start.
            assert "Function not implemented" in outcome.error
            outcome = await scene.box.execute(request, on_execs=ear)
        return outcome

    outcome = stage.play(scene)

    assert outcome.data["exit_code"] == 0
    assert ear.words() == ["/bin/date"]


def test_nothing_is_recorded_where_policy_does_not_want_it(stage):
    """The posture says so too."""
    ear, _ = heard(stage, "/bin/date", exec_record=False)

    async def probe(scene):
        return await scene.box.probe()

    posture = stage.play(probe, exec_record=False)

    assert ear.execs == []
    assert not posture.controls["exec_record"]
    assert posture.found["exec_record"] == "off by policy"
    assert stage.play(probe).controls["exec_record"]
