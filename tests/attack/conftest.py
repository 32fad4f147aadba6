import fcntl

import pytest

from tests.support.budgets import folder_on_disk


@pytest.fixture
def on_disk(tmp_path_factory):
    """A workspace on the host's own file system, which no size limits.

    One at a time: what one test frees there hides what another one's box writes.
    """
    shared = tmp_path_factory.getbasetemp().parent
    with (shared / "on-disk.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with folder_on_disk() as folder:
            yield folder
