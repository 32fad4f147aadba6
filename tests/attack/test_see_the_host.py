"""A command looks for processes, names and secrets of the host."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.docker

LOOK = r"""
echo looked
for pid in /proc/[0-9]*; do tr '\0' ' ' < $pid/cmdline; echo; done 2>/dev/null
hostname; env; cat /etc/resolv.conf /etc/hosts
"""


def test_host_processes_are_out_of_sight(stage):
    """The box holds an init, the server, its spare and the command; nothing else is to be seen."""
    text = stage.output(LOOK)
    print("seen inside:", text)

    assert text.startswith("looked\n")
    commands = [line for line in text.splitlines()[1:] if line.startswith("/")]
    assert commands
    assert all("toolserver" in line for line in commands if not line.startswith("/bin"))


def test_nothing_of_the_host_environment_passes(sandbox_image, runtime_directory):
    """A variable of the harness is neither in the command's environment nor in the container's."""
    script = PLANTED.format(image=sandbox_image, runtime=str(runtime_directory))
    planted = {
        **os.environ,
        "GLOVEBOX_PLANTED": "marker-7d1f",
        "HTTP_PROXY": "http://u:marker-7d1f@127.0.0.1:9",
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=planted, capture_output=True, text=True, check=True
    )

    assert "host has marker-7d1f" in done.stdout
    assert "looked inside" in done.stdout
    assert done.stdout.count("marker-7d1f") == 1


PLANTED = """
import os
import subprocess
import sys
from pathlib import Path
from orchestrator.engine.client import connect
from tests.support.boxes import Stage
print("host has", os.environ["GLOVEBOX_PLANTED"])
engine = connect()

async def scene(scene):
    print(await scene.output("echo looked inside; env; cat /proc/*/environ 2>/dev/null | tr '\\\\0' '\\\\n'; true"))
    [container] = engine.api.containers(filters={{"label": f"glovebox.session={{scene.spec.session}}"}})
    print(engine.api.inspect_container(container["Id"]))

Stage(engine, "{image}", Path("{runtime}")).play(scene)
engine.close()
"""
