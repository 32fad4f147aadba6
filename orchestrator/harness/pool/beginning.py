"""A project's pool begins with its first session, where the user wants pools."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

from orchestrator.config.paths import Paths
from orchestrator.config.settings import PoolSettings
from orchestrator.errors import GloveboxError
from orchestrator.harness.options import RunOptions
from orchestrator.harness.pool.recipe import why_cold
from orchestrator.harness.pool.spawn import start_pool
from orchestrator.schema.terminal_text import escape_terminal


def begin_pool(
    options: RunOptions,
    settings: PoolSettings,
    paths: Paths,
    *,
    mode: str,
    note: Callable[[str], None],
) -> None:
    """Have the next session of the project find a warm box; a failure is told and no more.

    ``mode`` is the workspace's as it came out. Blocks for the start of a process.
    """
    if settings.size == 0 or mode != "overlay" or why_cold(options):
        return
    idle_s = settings.idle_seconds
    try:
        start_pool(options, paths, os.environ, size=settings.size, idle_s=idle_s)
    except (OSError, subprocess.SubprocessError, GloveboxError) as error:
        note(escape_terminal(f"no warm pool could be started: {error}"))
