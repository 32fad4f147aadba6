"""What can happen to the engine itself, with several sessions on it."""

import signal
import time
from collections.abc import Callable

from tests.support.second_engine import SecondEngine

FROZEN_S = 3.0
AWAY_S = 1.0


def restart_engine(engine: SecondEngine, after_s: float) -> None:
    """Restart it in order, as an upgrade does; its containers end."""
    time.sleep(after_s)
    engine.stop()
    time.sleep(AWAY_S)
    engine.start()


def crash_engine(engine: SecondEngine, after_s: float) -> None:
    """Kill it, and start it again."""
    time.sleep(after_s)
    engine.stop(signal.SIGKILL)
    time.sleep(AWAY_S)
    engine.start()


def freeze_engine(engine: SecondEngine, after_s: float) -> None:
    """Let it answer nobody for a while, as under a heavy load."""
    time.sleep(after_s)
    engine.send(signal.SIGSTOP)
    time.sleep(FROZEN_S)
    engine.send(signal.SIGCONT)


ENGINE_FAULTS: dict[str, Callable[[SecondEngine, float], None]] = {
    fault.__name__: fault for fault in (restart_engine, crash_engine, freeze_engine)
}
