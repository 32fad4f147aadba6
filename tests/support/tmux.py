"""A person in front of a real tmux: keys in, screen text out."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time

from tests.support.world import GLOVEBOX, World

TMUX = shutil.which("tmux")


class Pane:
    """One pane of a tmux server of its own."""

    def __init__(self, world: World, *arguments: str, size: tuple[int, int] = (90, 30)) -> None:
        columns, rows = size
        self._socket = world.root / "tmux"
        self._code = world.root / "exit-code"
        command = shlex.join([str(GLOVEBOX), *arguments])
        self._tmux(
            "new-session",
            *("-d", "-x", str(columns), "-y", str(rows), "-c", str(world.project)),
            f"{command}; echo $? > {shlex.quote(str(self._code))}; exec sleep 600",
            env=world.env(TERM="screen-256color"),
        )

    def type(self, text: str) -> None:
        """Type characters as they are."""
        self._tmux("send-keys", "-l", text)

    def press(self, *names: str) -> None:
        """Press keys by tmux's names for them."""
        self._tmux("send-keys", *names)

    def say(self, text: str) -> None:
        self.type(text)
        self.press("Enter")

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def text(self, *, scrollback: bool = False) -> str:
        """Return the screen, and what has scrolled away above it."""
        above = ("-S", "-") if scrollback else ()
        return self._tmux("capture-pane", "-p", "-J", *above)

    def until(self, *words: str, seconds: float = 60.0) -> str:
        """Wait until the screen shows all of some words."""
        return self._wait(lambda text: all(word in text for word in words), repr(words), seconds)

    def until_gone(self, words: str, seconds: float = 60.0) -> str:
        return self._wait(lambda text: words not in text, f"no {words!r}", seconds)

    def ended(self, seconds: float = 60.0) -> int:
        """Wait for the end of the command and return its exit code."""
        end = time.monotonic() + seconds
        while not (self._code.exists() and self._code.read_text().strip()):
            assert time.monotonic() < end, f"still running:\n{self.text()}"
            time.sleep(0.05)
        return int(self._code.read_text())

    def title(self) -> str:
        """Return the title that what runs there has set."""
        return self._tmux("display-message", "-p", "#{pane_title}")

    def close(self) -> None:
        self._tmux("kill-server")

    def _wait(self, holds, what: str, seconds: float) -> str:
        end = time.monotonic() + seconds
        while not holds(text := self.text()):
            assert time.monotonic() < end, f"expected {what} on:\n{text}"
            time.sleep(0.05)
        return text

    def _tmux(self, *arguments: str, env: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            [str(TMUX), "-S", str(self._socket), "-f", "/dev/null", *arguments],
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=20,
        )
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout
