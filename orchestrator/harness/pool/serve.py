"""The pool's own process: makes boxes, hands them out, and ends when nobody asked for a while."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from pathlib import Path

import anyio

from orchestrator.config.paths import Paths
from orchestrator.engine.lease import Lease
from orchestrator.harness.pool.channel import listen, socket_path
from orchestrator.harness.pool.desk import Desk
from orchestrator.harness.pool.maker import BoxMaker
from orchestrator.harness.pool.order import Order, order_path, read_order
from orchestrator.harness.pool.warm_pool import WarmPool


async def serve_pool(
    pool: str, paths: Paths, environ: Mapping[str, str], *, directory: Path
) -> str:
    """Keep a pool until it is told to stop or idle too long; return why it cannot be, if so."""
    order = read_order(directory, pool)
    try:
        lock = Lease.take(directory / f"{pool}.lock")
    except BlockingIOError:
        return f"pool {pool} runs already"
    try:
        return await _serve(pool, order, BoxMaker(order.options, paths, environ), directory)
    finally:
        order_path(directory, pool).unlink(missing_ok=True)
        lock.close()


async def _serve(pool: str, order: Order, maker: BoxMaker, directory: Path) -> str:
    path = socket_path(directory, pool)
    warm = WarmPool(maker, order.size)
    try:
        with listen(path) as listener:
            async with anyio.create_task_group() as group:
                desk = Desk(pool, order, warm, group.cancel_scope, time.monotonic())
                group.start_soon(desk.serve, listener)
                group.start_soon(_keep, warm, group.cancel_scope)
                group.start_soon(_until_idle, desk)
                group.start_soon(_until_told, group.cancel_scope)
            path.unlink(missing_ok=True)
    finally:
        await warm.close()
        maker.close()
    return warm.trouble


async def _keep(pool: WarmPool, scope: anyio.CancelScope) -> None:
    """End the process where no box can ever be made."""
    await pool.keep()
    scope.cancel()


async def _until_idle(desk: Desk) -> None:
    while True:
        left = desk.pool.last_asked + desk.order.idle_s - time.monotonic()
        if left <= 0:
            desk.scope.cancel()
            return
        await anyio.sleep(left)


async def _until_told(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            scope.cancel()
            return
