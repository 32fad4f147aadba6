import json

import exposure
import pytest


def test_path_is_shown_only_where_it_tells_something(tmp_path):
    """Empty files and folders stand over what is masked."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "text").write_text("x")
    (tmp_path / "nothing").touch()
    names = ("empty", "full", "full/text", "nothing", "missing", "nothing/below")

    found = exposure.shown([str(tmp_path / name) for name in names])

    assert list(found.values()) == ["hidden", "shown", "shown", "hidden", "absent", "absent"]


def test_mounts_are_read_as_the_kernel_writes_them():
    """The root is among them, and targets are plain paths."""
    found = {mount["target"]: mount for mount in exposure.mounts()}

    assert found["/proc"]["kind"] == "proc"
    assert not any("\\040" in target for target in found)


def test_mounts_beyond_the_most_are_one_that_nobody_asked_for():
    """A list that is cut in silence would hide the odd one."""
    every = exposure.mounts()
    cut = exposure.mounts(most=1)

    assert cut[0] == every[0]
    assert [mount["target"] for mount in cut[1:]] == [f"{len(every) - 1} more"]


@pytest.mark.docker
def test_box_sees_its_own_namespaces_and_few_devices(stage):
    """As a worker of the server sees them, who may not list its own directory."""
    source = "import json, exposure\nprint(json.dumps([exposure.namespaces(), exposure.devices()]))"

    async def scene(scene):
        path = "import sys; sys.path.insert(0, '/opt/glovebox/toolserver')\n"
        outcome = await scene.python(path + source)
        return json.loads(outcome.data["head"])

    spaces, devices = stage.play(scene)

    assert set(spaces) == set(exposure.NAMESPACES)
    assert all(spaces.values())
    assert set(devices) <= {
        f"/dev/{n}" for n in ["full", "null", "random", "tty", "urandom", "zero", "ptmx"]
    }
