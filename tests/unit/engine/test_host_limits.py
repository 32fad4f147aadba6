import os

import pytest

from orchestrator.engine.host_limits import process_limits
from tests.support.boxes import LIMITS


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def host(tmp_path):
    def make(groups, **files):
        write(tmp_path / "proc" / "7" / "cgroup", groups)
        for name, text in files.items():
            write(tmp_path / "groups" / name, text)
        return process_limits(7, proc=tmp_path / "proc", root=tmp_path / "groups")

    return make


def test_version_one_has_a_tree_for_each(host):
    """The path stands behind the controller's name."""
    found = host(
        "4:memory:/docker/x\n3:pids:/docker/x\n2:cpu,cpuacct:/docker/x\n0::/docker/x\n",
        **{
            "pids/docker/x/pids.max": "128\n",
            "memory/docker/x/memory.limit_in_bytes": "536870912\n",
            "cpu/docker/x/cpu.cfs_quota_us": "200000\n",
            "cpu/docker/x/cpu.cfs_period_us": "100000\n",
        },
    )

    assert found == {"pids": 128, "memory": 536870912, "cpu": 2.0}


def test_version_two_has_one_tree(host):
    """All limits lie in one directory."""
    found = host(
        "0::/system.slice/x.scope\n",
        **{
            "system.slice/x.scope/pids.max": "64\n",
            "system.slice/x.scope/memory.max": "1024\n",
            "system.slice/x.scope/cpu.max": "50000 100000\n",
        },
    )

    assert found == {"pids": 64, "memory": 1024, "cpu": 0.5}


@pytest.mark.parametrize("text", ["max\n", "-1\n", "", "junk"])
def test_no_number_is_no_limit(host, text):
    """What is not limited is not told."""
    assert host("3:pids:/x\n", **{"pids/x/pids.max": text}) == {}


def test_process_that_is_gone_has_none(tmp_path):
    """Nothing is assumed."""
    assert process_limits(7, proc=tmp_path, root=tmp_path) == {}


@pytest.mark.docker
def test_real_box_is_limited_by_the_host(stage):
    """What the engine was asked for is what the host's kernel holds."""
    if not stage.engine.info().local or not os.access("/sys/fs/cgroup", os.R_OK):
        pytest.skip("the engine is on another machine")

    async def scene(scene):
        return process_limits(scene.container()["State"]["Pid"])

    found = stage.play(scene)

    assert found == {"pids": LIMITS.pids, "memory": LIMITS.memory, "cpu": LIMITS.cpus}
