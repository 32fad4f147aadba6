"""Starts a pool's process: detached, without a key in its environment."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.engine.labels import is_locked
from orchestrator.harness.options import RunOptions
from orchestrator.harness.pool.channel import ask, pool_directory, socket_path
from orchestrator.harness.pool.order import Order, order_path
from orchestrator.harness.pool.recipe import ENGINE_VARIABLES, pool_id, recipe_of
from orchestrator.harness.project import check_project

KEPT = (
    *ENGINE_VARIABLES,
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "PYTHONPATH",
    "TMPDIR",
    "USER",
    "VIRTUAL_ENV",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
)
"""What a pool's process knows of this one's environment; provider keys are not among it."""

_START = '"$@" </dev/null >/dev/null &'
"""By a shell that ends at once, so that the pool is no child of whoever wanted it."""


def start_pool(
    options: RunOptions, paths: Paths, environ: Mapping[str, str], *, size: int, idle_s: float
) -> str:
    """Start the pool for these options where none runs, and return its name; blocks for a moment.

    UsageError where no session could be had of that directory either.

    Two that start at once are one: the second finds that the first one has begun.
    """
    home, state = Path.home().resolve(), paths.state.resolve()
    check_project(options.directory, home=home, state=state, named="pool warm")
    recipe = recipe_of(options)
    directory = pool_directory(environ)
    name = pool_id(recipe, paths, environ)
    try:
        if ask(socket_path(directory, name), {"do": "status"}) is not None:
            return name
    except TimeoutError:
        # Busy, so alive.
        return name
    path = order_path(directory, name)
    temporary = path.with_suffix(".new")
    temporary.touch(mode=0o600)
    temporary.write_text(Order(options=recipe, size=size, idle_s=idle_s).model_dump_json())
    temporary.replace(path)
    kept = {key: environ[key] for key in KEPT if key in environ}
    own = {
        "GLOVEBOX_STATE": str(paths.state),
        "GLOVEBOX_CONFIG": str(paths.config),
    }
    serve = [sys.executable, "-m", "orchestrator.cli.main", "pool", "serve", name]
    with log_path(directory, name).open("a") as log:
        try:
            # Its process keeps this open, and so locked, for as long as it lives.
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Another one started it just now.
            return name
        log.truncate(0)
        subprocess.run(
            ["/bin/sh", "-c", _START, "sh", *serve],
            env=kept | own,
            cwd="/",
            stderr=log,
            start_new_session=True,
            check=True,
        )
    return name


def is_running(directory: Path, pool: str) -> bool:
    """Say whether a pool's process lives, from the moment that it was started."""
    return is_locked(log_path(directory, pool))


def log_path(directory: Path, pool: str) -> Path:
    """Return where a pool's last words are."""
    return directory / f"{pool}.log"
