"""A command reads /proc and /sys for what they tell of the host."""

import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.docker

FINE = {
    "bus": "names of buses; read-only",
    "buddyinfo": "counts of free pages",
    "cgroups": "which limits exist",
    "cpuinfo": "what compilers and run-times choose by",
    "crypto": "algorithms of the kernel",
    "devices": "numbers of drivers",
    "dma": "channels of old buses",
    "execdomains": "a constant",
    "fb": "names of screens",
    "filesystems": "which file systems exist",
    "fs": "statistics of file systems; read-only",
    "irq": "numbers of interrupts; read-only",
    "loadavg": "how busy the machine is",
    "meminfo": "what programs size themselves by",
    "misc": "numbers of drivers",
    "mounts": "the box's own",
    "net": "the box's own",
    "pagetypeinfo": "counts of free pages",
    "pressure": "how busy the machine is",
    "schedstat": "how busy the machine is",
    "self": "the reader's own",
    "softirqs": "counts of interrupts",
    "stat": "how busy the machine is",
    "swaps": "sizes; the name of a file",
    "sys": "settings of the kernel; read-only",
    "thread-self": "the reader's own",
    "tty": "names of drivers",
    "uptime": "since when the machine runs",
    "version": "no more than uname tells",
    "vmstat": "counts of pages",
    "zoneinfo": "counts of pages",
}
"""What a command can read in /proc besides processes, and why that gives nothing away."""

FINE_SYS = {"class", "devices", "fs"}
"""Names of devices without their numbers; sizes and shares of the processors; the own limits."""

LOOK = r"""
for path in /proc/*; do
  name=${path#/proc/}
  case $name in [0-9]*) continue ;; esac
  if [ -d "$path" ]; then [ -n "$(ls -A "$path" 2>/dev/null)" ] && echo "proc $name"
  elif [ -n "$(head -c 1 "$path" 2>/dev/null | tr '\0' x)" ]; then echo "proc $name"; fi
done
for path in /sys/*; do [ -n "$(ls -A "$path" 2>/dev/null)" ] && echo "sys ${path#/sys/}"; done
echo looked
"""

SEARCH = """
import os
wanted = MARKS
seen = read = 0
for top in ("/proc", "/sys"):
    for folder, folders, files in os.walk(top):
        if folder == "/proc":
            folders[:] = [name for name in folders if not name.isdigit()]
        for name in files:
            path = os.path.join(folder, name)
            seen += 1
            try:
                fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                try:
                    text = os.read(fd, 65536).decode("utf-8", "replace")
                finally:
                    os.close(fd)
            except OSError:
                continue
            read += 1
            for mark in wanted:
                if mark in text:
                    print("TELLS", path, mark)
print("files", seen, read)
"""


def test_only_what_gives_nothing_away_is_readable(stage):
    """Each entry is either hidden or on a list with a reason; a new one must be thought about."""
    lines = stage.output(LOOK).splitlines()

    assert lines.pop() == "looked"
    shown = {line.removeprefix("proc ") for line in lines if line.startswith("proc ")}
    system = {line.removeprefix("sys ") for line in lines if line.startswith("sys ")}
    assert {"cpuinfo", "meminfo", "self"} <= shown
    assert shown - set(FINE) == set()
    assert system - FINE_SYS == set()


def marks():
    """What identifies this machine, and stands in its own /proc and /sys."""
    found = []
    for path in (
        "/proc/cmdline",
        "/etc/machine-id",
        "/sys/class/dmi/id/product_uuid",
        "/sys/class/dmi/id/product_serial",
        "/sys/class/dmi/id/board_serial",
        "/sys/block/sda/device/serial",
    ):
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        if len(text) > 7:
            found.append(text)
    return found


@pytest.mark.skipif(not os.access("/proc/cmdline", os.R_OK), reason="no /proc/cmdline to look for")
def test_nothing_that_names_this_machine_is_told(stage, engine):
    """Boot line, machine id, serial numbers: searched in every readable file."""
    if not engine.info().local:
        pytest.skip("the engine's machine is another; its marks are not known here")
    wanted = marks()
    assert wanted

    async def scene(scene):
        control = await scene.python(SEARCH.replace("MARKS", "['MemTotal']"))
        return control, await scene.python(SEARCH.replace("MARKS", repr(wanted)))

    control, searched = stage.play(scene)

    assert "TELLS /proc/meminfo MemTotal" in control.data["head"]
    assert int(searched.data["head"].split()[-1]) > 100
    assert "TELLS" not in searched.data["head"]
