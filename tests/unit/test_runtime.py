"""What the image's own runtime.py made: a Python that needs nothing of the image it is put into."""

import json

import pytest

pytestmark = pytest.mark.docker

LOOK = """
import json, sys
import ctypes, hashlib, re, socket, subprocess
sys.path.append("/opt/glovebox/runtime/packages")
import PIL.Image, PIL.WebPImagePlugin
maps = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
modules = {m.__file__ for m in sys.modules.values() if getattr(m, "__file__", None)}
print(json.dumps({"maps": sorted(maps), "modules": sorted(modules), "path": sys.path}))
"""


@pytest.fixture(scope="module")
def found(stage):
    async def scene(scene):
        return await scene.as_server(LOOK)

    return json.loads(stage.play(scene))


@pytest.mark.parametrize("kind", ["maps", "modules", "path"])
def test_server_is_made_of_its_own_files_alone(found, kind):
    """No library, module or search path of the image takes part, PIL's decoders included."""
    assert len(found[kind]) >= 2
    assert [name for name in found[kind] if not name.startswith("/opt/glovebox/")] == []


def test_server_loads_nothing_of_openssl(found):
    """Its configuration, a file of the image, could name a library to load."""
    assert any(name.endswith("hashlib.py") for name in found["modules"])
    assert not [
        name for name in found["modules"] + found["maps"] if "ssl" in name or "crypto" in name
    ]


def test_loader_reads_no_list_of_libraries(stage):
    """A file of the image, /etc/ld.so.preload, would be loaded into the server as root."""
    command = "grep -c /etc/ld.so.preload /opt/glovebox/runtime/ld.so || true"

    assert stage.output(command) == "0\n"
    assert stage.output("grep -c /etc/ld.so.preload /lib64/ld-linux-*") == "1\n"


def test_commands_run_in_the_shell_of_the_runtime(stage):
    """Static and ours, whatever the image calls bash."""
    assert stage.output("readlink /proc/$$/exe; true") == "/opt/glovebox/bash\n"
