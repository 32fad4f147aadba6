import json

import pytest

pytestmark = pytest.mark.docker

SOURCE = """
import json, probe
from config import Config, Limits
config = Config("/workspace", "/home/agent", "/tmp/.glovebox-spill", (), ("/workspace", "/tmp"),
                1000, 1000, {}, Limits(1 << 30, 1 << 30, 1 << 30, 1 << 26), False)
print(json.dumps(probe.facts({"paths": ["/proc/keys", "/proc/uptime"], "exec_record": ""}, config)))
"""


def test_probe_finds_what_a_command_finds(stage):
    """As the commands' user every attempt is refused."""

    async def scene(scene):
        import_path = "import sys; sys.path.insert(0, '/opt/glovebox/toolserver')\n"
        outcome = await scene.python(import_path + SOURCE)
        return json.loads(outcome.data["head"])

    found = stage.play(scene)

    assert all(found["refused"].values())
    assert found["root_writes"] == []
    assert found["interfaces"] == ["lo"]
    assert found["status"]["Seccomp"] == "2"
    assert found["shown"] == {"/proc/keys": "hidden", "/proc/uptime": "shown"}
    assert found["disk_places"] == ["/workspace", "/tmp"]


def test_probe_notices_a_control_that_is_missing(stage):
    """Run with the server's powers, the same probe sees that it could become root."""
    found = json.loads(stage.play(lambda scene: scene.as_server(SOURCE)))

    assert found["refused"]["root"] is False
    assert found["status"]["CapEff"].strip("0") != ""
    assert found["refused"]["vsock"] is True


def test_writable_root_is_noticed(stage):
    """The probe does not take the mount option's word alone."""
    found = json.loads(stage.play(lambda scene: scene.as_server(SOURCE), read_only_root=False))

    assert "ro" not in found["root_options"].split(",")
    assert found["root_writes"] != []
