"""One recipe has one pool at a time."""

import os
from pathlib import Path

import anyio
import pytest

from orchestrator.engine.lease import Lease
from orchestrator.errors import UsageError
from orchestrator.harness.options import RunOptions
from orchestrator.harness.pool.order import Order, order_path
from orchestrator.harness.pool.serve import serve_pool


def serve(paths, directory, of="/src/app"):
    order = Order(options=RunOptions(None, Path(of), ""), size=1, idle_s=60)
    order_path(directory, "abc").write_text(order.model_dump_json())
    return anyio.run(lambda: serve_pool("abc", paths, os.environ, directory=directory))


def test_second_process_of_a_pool_ends_at_once(paths, tmp_path):
    """The first one's lock tells; its order stays."""
    lock = Lease.take(tmp_path / "abc.lock")

    assert serve(paths, tmp_path) == "pool abc runs already"

    lock.close()
    assert order_path(tmp_path, "abc").exists()


def test_pool_that_may_not_be_lets_go_of_its_name(paths, tmp_path):
    """The next start is a new one."""
    with pytest.raises(UsageError, match="pool /"):
        serve(paths, tmp_path, of="/")

    assert not order_path(tmp_path, "abc").exists()
    Lease.take(tmp_path / "abc.lock").close()
