"""A way to the real engine that a test can cut: to everybody who uses it, the engine has gone."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ENGINE = "/var/run/docker.sock"
PIECE = 64 * 1024


class EngineProxy:
    """Passes bytes on between its own socket and the engine's, until it is cut."""

    def __init__(self, path: Path, engine: str = ENGINE) -> None:
        self.path = path
        self._engine = engine
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self.live = 0
        """Connections that are open now."""
        self._awake = threading.Event()
        self._awake.set()

    @property
    def url(self) -> str:
        """Return what ``DOCKER_HOST`` is to be."""
        return f"unix://{self.path}"

    def listen(self) -> None:
        """Be there, or be there again."""
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen(128)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def hang(self) -> None:
        """Take connections and bytes, and answer nothing until ``wake``."""
        self._awake.clear()

    def wake(self) -> None:
        """Go on with all that came meanwhile."""
        self._awake.set()

    def cut(self) -> None:
        """Be gone, with all connections."""
        self._awake.set()
        with self._lock:
            listener, self._listener = self._listener, None
            held, self._open = self._open, []
        if listener is None:
            return
        self.path.unlink()
        for sock in (listener, *held):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        listener.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                ours, _ = listener.accept()
            except OSError:
                return
            theirs = socket.socket(socket.AF_UNIX)
            theirs.connect(self._engine)
            with self._lock:
                self.live += 1
                self._open += [ours, theirs]
            pairs = ((ours, theirs), (theirs, ours))
            pumps = [threading.Thread(target=self._pump, args=pair, daemon=True) for pair in pairs]
            for pump in pumps:
                pump.start()
            threading.Thread(target=self._close, args=(pumps, ours, theirs), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(PIECE):
                self._awake.wait()
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _close(self, pumps: list[threading.Thread], *sockets: socket.socket) -> None:
        for pump in pumps:
            pump.join()
        for sock in sockets:
            sock.close()
        with self._lock:
            self.live -= 1
            self._open = [sock for sock in self._open if sock not in sockets]


@contextmanager
def engine_proxy(directory: Path) -> Iterator[EngineProxy]:
    """Run one below a short directory."""
    proxy = EngineProxy(directory / "engine.sock")
    proxy.listen()
    try:
        yield proxy
    finally:
        proxy.cut()
