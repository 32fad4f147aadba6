"""One client, one lifecycle and one heart for all sessions of this process on the same engine."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine, connect, engine_key
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.runtime_dir import runtime_root

Key = tuple[str, Path, Path]


@dataclass(slots=True)
class _Shared:
    engine: Engine
    lifecycle: DockerLifecycle
    users: int = 0


@dataclass(slots=True)
class EngineHold:
    """One user's hold on what the process has of an engine; the last one's end closes it."""

    engine: Engine
    lifecycle: DockerLifecycle
    _key: Key
    _closed: bool = False

    def close(self) -> None:
        """Let go; a second time does nothing. The user's own boxes are ended before."""
        if not self._closed:
            self._closed = True
            _HELD.release(self._key, self.engine)


@dataclass(slots=True)
class _Engines:
    """All that are held. Sessions may be of several event loops, each in a thread of its own."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _shared: dict[Key, _Shared] = field(default_factory=dict)

    def hold(self, key: Key, environ: Mapping[str, str], runtime: Path) -> EngineHold:
        held = self._join(key)
        if held is not None:
            return held
        # Without the lock: an engine that is slow to answer keeps nobody from another one.
        engine = connect(environ=environ)
        with self._lock:
            shared = self._shared.get(key)
            if shared is None:
                lifecycle = DockerLifecycle(engine, runtime=runtime)
                shared = self._shared[key] = _Shared(engine, lifecycle)
            shared.users += 1
        if shared.engine is not engine:
            engine.close()
        return EngineHold(shared.engine, shared.lifecycle, key)

    def release(self, key: Key, engine: Engine) -> None:
        with self._lock:
            shared = self._shared[key]
            shared.users -= 1
            if shared.users:
                return
            del self._shared[key]
        engine.close()

    def _join(self, key: Key) -> EngineHold | None:
        with self._lock:
            shared = self._shared.get(key)
            if shared is None:
                return None
            shared.users += 1
        held = EngineHold(shared.engine, shared.lifecycle, key)
        try:
            # Others' sessions may have outlived the engine itself.
            shared.engine.check()
        except BaseException:
            held.close()
            raise
        return held


_HELD = _Engines()


def hold_engine(paths: Paths, environ: Mapping[str, str]) -> EngineHold:
    """Return a hold on the engine that the environment names; blocks while it is connected to.

    Sessions of one state directory on one engine share it. Raises as ``client.connect`` does, also
    where the process is connected already and the engine has gone since.
    """
    runtime = runtime_root(environ, os.geteuid())
    return _HELD.hold((engine_key(environ), paths.state, runtime), environ, runtime)
