"""A command writes where nobody can count it, so that the disk fills beside its budget."""

import anyio
import pytest

from orchestrator.schema.mount import Mount
from tests.support.boxes import MIB
from tests.support.budgets import BUDGET, changes, folder_on_disk

pytestmark = pytest.mark.docker

MOST = 6 * BUDGET
"""What a fast disk may take before the watch has looked, counted and ended the writer."""

HEAD = """
import ctypes, mmap, os, platform, socket, sys, threading, time
libc = ctypes.CDLL(None)
PIECE = bytes(4 << 20)
PIECES = 240

def fill(file):
    os.write(file, PIECE)
    with open("/tmp/written", "a") as log:
        log.write("x")
    time.sleep(0.02)

def nameless(name="gone"):
    file = os.open(name, os.O_CREAT | os.O_RDWR | os.O_EXCL)
    os.unlink(name)
    return file
"""

WAYS = {
    "directory-that-cannot-be-listed": """
os.mkdir("hid"); os.chmod("hid", 0o300); os.chdir("hid")
for number in range(PIECES):
    file = os.open(f"f{number}", os.O_CREAT | os.O_WRONLY); fill(file); os.close(file)
""",
    "directory-whose-names-cannot-be-looked-at": """
os.mkdir("hid"); kept = os.open("hid", os.O_RDONLY)
files = [os.open(f"f{number}", os.O_CREAT | os.O_WRONLY, dir_fd=kept) for number in range(5)]
os.chmod("hid", 0o400)
for number in range(PIECES):
    fill(files[number % 5])
""",
    "path-longer-than-a-path-may-be": """
for _ in range(25):
    os.mkdir("d" * 200); os.chdir("d" * 200)
for number in range(PIECES):
    file = os.open(f"f{number}", os.O_CREAT | os.O_WRONLY); fill(file); os.close(file)
""",
    "directories-without-a-bottom": """
for _ in range(3000):
    os.mkdir("d"); os.chdir("d")
for number in range(PIECES):
    file = os.open(f"f{number}", os.O_CREAT | os.O_WRONLY); fill(file); os.close(file)
""",
    "process-that-shows-nothing": """
libc.prctl(4, 0, 0, 0, 0)
file = nameless()
for _ in range(PIECES):
    fill(file)
""",
    "deleted-file-only-mapped": """
libc.mmap.restype = ctypes.c_void_p
for _ in range(PIECES):
    file = nameless()
    fill(file)
    libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file, 0)
    os.close(file)
""",
    "deleted-file-on-its-way": """
kept = []
for _ in range(PIECES // 4):
    pair = socket.socketpair(); kept.append(pair)
    file = nameless()
    for _ in range(4):
        fill(file)
    socket.send_fds(pair[0], [b"x"], [file])
    os.close(file)
""",
    "deleted-file-sent-before-anybody-accepts": """
server = socket.socket(socket.AF_UNIX); server.bind("\\0hole"); server.listen(64)
for _ in range(PIECES // 8):
    client = socket.socket(socket.AF_UNIX); client.connect("\\0hole")
    file = nameless()
    for _ in range(8):
        fill(file)
    socket.send_fds(client, [b"x"], [file])
    os.close(file); client.close()
""",
    "thread-with-files-of-its-own": """
CLONE = 0x100 | 0x200 | 0x800 | 0x10000  # VM, FS, SIGHAND, THREAD; not FILES
SIZE = 1 << 16
pause = ctypes.cast(libc.pause, ctypes.c_void_p)
libc.clone.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
stacks = []
for number in range(PIECES // 12):
    file = nameless()
    for _ in range(12):
        fill(file)
    stacks.append(mmap.mmap(-1, SIZE))
    top = ctypes.addressof(ctypes.c_char.from_buffer(stacks[-1])) + SIZE - 64
    if libc.clone(pause, top, CLONE, None) < 0:
        sys.exit("no thread")
    os.close(file)
""",
    "process-whose-first-thread-ended": """
def write():
    file = nameless()
    for _ in range(PIECES):
        fill(file)
thread = threading.Thread(target=write); thread.start()
libc.syscall(60 if platform.machine() == "x86_64" else 93, 0)
""",
    "names-that-are-no-files": """
for number in range(240_000):
    os.symlink("x" * 4000, f"s{number}")
    if number % 1000 == 999:
        with open("/tmp/written", "a") as log:
            log.write("x")
        time.sleep(0.02)
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_writer_that_hides_what_it_writes_is_ended(stage, on_disk, way):
    """What cannot be counted, but is gone from the free space, is the box's."""

    async def scene(scene):
        filled = await scene.python(HEAD + WAYS[way])
        written = 4 * MIB * len(await scene.output("cat /tmp/written"))
        return filled, written, await scene.output("echo next")

    filled, written, following = stage.play(scene, **changes(on_disk))
    print("tried inside:", filled.data["limit_note"], filled.data["head"][-200:], written)

    assert filled.data["limit"] == "disk"
    assert written < MOST
    assert following == "next\n"


def test_words_name_what_could_not_be_looked_into(stage, on_disk):
    """Whoever is innocent can see what to mend."""

    async def scene(scene):
        return await scene.python(HEAD + WAYS["directory-that-cannot-be-listed"])

    filled = stage.play(scene, **changes(on_disk))

    assert (
        "of free space went while /workspace/hid could not be looked into"
        in (filled.data["limit_note"])
    )


def test_others_filling_the_disk_end_nobody_whose_sockets_and_maps_are_plain(stage, on_disk):
    """Sockets in use and mapped memory are no hiding places: others may fill the disk."""
    held = """
import mmap, os, socket, time
pairs = [socket.socketpair() for _ in range(8)]
memory = mmap.mmap(-1, 1 << 20); pairs[0][0].send(b"x")
socket.send_fds(pairs[1][0], [b"x"], [0]); socket.recv_fds(pairs[1][1], 1, 1)
shared = os.memfd_create("m"); os.ftruncate(shared, 4096); mapped = mmap.mmap(shared, 4096)
for _ in range(20):
    time.sleep(0.1)
"""

    async def scene(scene):
        with folder_on_disk() as other:
            (other / "big").write_bytes(bytes(3 * BUDGET))
            return await scene.python(held)

    outcome = stage.play(scene, **changes(on_disk))

    assert (outcome.data["limit"], outcome.data["exit_code"]) == (None, 0)


@pytest.mark.parametrize("place", ["/home/agent", "/dirs/out"])
def test_second_place_on_the_same_disk_is_watched(stage, on_disk, place):
    """A mount beside the workspace, of the same file system, is no way round."""
    writer = f"for i in $(seq 1 60); do head -c 16M /dev/zero > {place}/f$i; sleep 0.05; done"

    async def scene(scene):
        return await scene.run(writer, 60.0)

    with folder_on_disk() as second:
        outcome = stage.play(scene, **changes(on_disk, Mount("bind", str(second), place)))

    assert outcome.data["limit"] == "disk"


HOME = "/home/agent"
NEW = "for i in $(seq 1 12); do head -c 16M /dev/zero > /workspace/f$i; sleep 0.05; done"
"""Less than the budget, and so much that what others free meanwhile does not hide it."""


@pytest.mark.parametrize("hidden", [False, True], ids=["plain", "hidden"])
def test_home_does_not_grow_from_session_to_session(stage, on_disk, hidden):
    """What earlier sessions left in the project's home is part of the budget."""

    async def fill(scene):
        mode = "300" if hidden else "700"
        await scene.run(f"cd ~; mkdir a; head -c 160M /dev/zero > a/old; chmod {mode} a")
        # What changed within the clock's coarseness counts as new.
        await anyio.sleep(0.3)

    async def write(scene):
        return await scene.run(f"{NEW}; sleep 1"), await scene.output(
            "chmod 700 ~/a; rm -r ~/a /workspace/*"
        )

    async def again(scene):
        return await scene.run(f"{NEW}; sleep 1")

    with folder_on_disk() as home:
        spec = changes(on_disk, Mount("bind", str(home), HOME), disk=4 * BUDGET)
        stage.play(fill, **spec)
        outcome, _ = stage.play(write, **spec)
        after = stage.play(again, **spec)

    assert outcome.data["limit"] == "disk"
    told = "home counts as full" if hidden else "160.0 MiB of it were in the project's home"
    assert told in outcome.data["limit_note"]
    assert after.data["limit"] is None


MANY = """mkdir many; for j in $(seq 10); do
for i in $(seq 1500); do : > many/$j.$i; done; sleep 0.5; done"""


def test_more_files_than_can_be_read_back_end_the_call(stage, on_disk):
    """The session stays one whose changes can be looked at, once the files are gone."""

    async def scene(scene):
        made = await scene.run(f"{MANY}")
        cleared = await scene.run("rm -r many; sleep 0.5; echo gone")
        return made, cleared, await scene.run(f"{MANY}")

    made, cleared, again = stage.play(scene, **changes(on_disk, files=1000))
    print("tried inside:", made.data["limit_note"])

    assert made.data["limit"] == again.data["limit"] == "files"
    assert "of 1000 names in the workspace" in made.data["limit_note"]
    assert cleared.data["head"] == "gone\n"


def test_others_making_files_end_nobody(stage, on_disk):
    """Files that the host makes meanwhile are not the box's."""

    async def scene(scene):
        with folder_on_disk() as other:
            for number in range(3000):
                (other / str(number)).touch()
            return await scene.run("for i in 1 2 3 4 5 6; do echo $i > f$i; sleep 0.3; done")

    outcome = stage.play(scene, **changes(on_disk, files=1000))

    assert (outcome.data["limit"], outcome.data["exit_code"]) == (None, 0)
