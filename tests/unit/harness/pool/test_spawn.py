"""A pool's process is started once, detached, with little of its starter's environment."""

import os
import time
from pathlib import Path

import pytest

from orchestrator.errors import BoxError
from orchestrator.harness.pool.channel import pool_directory
from orchestrator.harness.pool.control import end_pools, pools, wait_ready
from orchestrator.harness.pool.spawn import log_path, start_pool

pytestmark = pytest.mark.docker


@pytest.fixture
def environ(short_directory):
    found = {**os.environ, "XDG_RUNTIME_DIR": str(short_directory), "SOME_API_KEY": "planted"}
    yield found
    end_pools(pool_directory(found))


def is_gone(pid):
    """Say so once it is: the last it gives up is its lock, a moment before it ends."""
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return True


@pytest.mark.usefixtures("engine")
def test_pool_is_started_once_and_ended(options, paths, environ):
    """Two starts are one process; after the end nothing of it is left but its last words."""
    directory = pool_directory(environ)
    names = [start_pool(options(), paths, environ, size=1, idle_s=60) for _ in range(2)]
    found = wait_ready(directory, names[0], seconds=60)
    again = start_pool(options(prompt="another"), paths, environ, size=1, idle_s=60)

    assert {*names, again} == {found["pool"]}
    assert [pool["pid"] for pool in pools(directory)] == [found["pid"]]
    assert os.getsid(found["pid"]) != os.getsid(0)
    assert Path(f"/proc/{found['pid']}/cwd").readlink() == Path("/")
    assert b"planted" not in Path(f"/proc/{found['pid']}/environ").read_bytes()

    other = end_pools(directory, only=Path("/somewhere/else"))
    ended = end_pools(directory, only=options().directory)

    assert other == []
    assert [pool["pool"] for pool in ended] == names[:1]
    assert pools(directory) == []
    assert is_gone(found["pid"])
    assert list((paths.state / "work").iterdir()) == []
    assert {path.suffix for path in directory.iterdir()} <= {".lock", ".log"}


@pytest.mark.usefixtures("engine")
def test_pool_that_ends_at_once_leaves_its_words(options, paths, environ):
    """Whoever waits for it is told them."""
    project = options().directory
    home = {**environ, "HOME": str(project)}
    name = start_pool(options(), paths, home, size=1, idle_s=60)

    with pytest.raises(BoxError, match=f"ended before a box was ready.*pool {project}"):
        wait_ready(pool_directory(environ), name, seconds=60)

    assert "home directory" in log_path(pool_directory(environ), name).read_text()
