"""The way out against a direct connection, and against mitmproxy where there is one.

``python -m benchmarks.egress [--rounds N]``. A server over TLS, the proxy and a client are three
processes on loopback. Small requests on a kept connection and bulk take turns between direct, through
a tunnel, and through an inspected tunnel; ratios are medians of pairs. Small requests are measured by
usual clients (httpx, the standard library's), and by bare sockets, which show the way's own cost and
nothing of a client's. mitmproxy is measured beside them where ``MITMDUMP`` names its program: it wants an
environment of its own.
"""

from __future__ import annotations

import argparse
import http.client
import os
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.egress_parts.certificates import make_server_certificate

HOST = "bench.example"
ROUNDS = 9
SMALL_EACH = 200
BULK = 64 * 1024 * 1024
LIMITED_RATE = 25_000_000
LIMITED_BULK = 25_000_000
CROWD = 200
CROWD_EACH = 20


@dataclass(frozen=True, slots=True)
class Way:
    """One way to the server."""

    name: str
    port: int
    """Of the server itself, or of a proxy."""
    authority: Path
    target: str | None = None
    """What CONNECT names; None is a direct connection."""

    def open(self) -> ssl.SSLSocket:
        """Return a connection, greeted and ready for requests."""
        plain = socket.create_connection(("127.0.0.1", self.port))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.target is not None:
            plain.sendall(f"CONNECT {self.target} HTTP/1.1\r\nHost: {self.target}\r\n\r\n".encode())
            head = b""
            while b"\r\n\r\n" not in head:
                head += plain.recv(1)
            if b" 200" not in head.split(b"\r\n")[0]:
                raise RuntimeError(f"{self.name}: {head!r}")
        context = ssl.create_default_context(cafile=str(self.authority))
        return context.wrap_socket(plain, server_hostname=HOST)


def small_requests(connection: ssl.SSLSocket) -> float:
    """Return the median seconds of small requests, one after the other."""
    times = []
    for _ in range(SMALL_EACH):
        begun = time.perf_counter()
        fetch(connection, "/small")
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def usual_requests(connection: ssl.SSLSocket) -> float:
    """Return the same for the client of Python's standard library."""
    client = http.client.HTTPSConnection(HOST)
    client.sock = connection
    times = []
    for _ in range(SMALL_EACH):
        begun = time.perf_counter()
        client.request("GET", "/small")
        client.getresponse().read()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def fetch(connection: ssl.SSLSocket, path: str) -> int:
    """Return how many bytes of body came."""
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
    data = b""
    while b"\r\n\r\n" not in data:
        data += _some(connection)
    head, _, rest = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length")
    )
    got = len(rest)
    while got < length:
        got += len(_some(connection))
    return got


def _some(connection: ssl.SSLSocket) -> bytes:
    data = connection.recv(256 * 1024)
    if not data:
        raise RuntimeError("the connection ended early")
    return data


def bulk(connection: ssl.SSLSocket, size: int, rate: int = 0) -> float:
    """Return the seconds that a body takes."""
    begun = time.perf_counter()
    fetch(connection, f"/bulk/{size}/{rate}")
    return time.perf_counter() - begun


def paired(
    ways: dict[str, Way], measure: Callable[[ssl.SSLSocket], float], rounds: int
) -> dict[str, list[float]]:
    """Return each way's figures; they take turns, each on a connection of its own."""
    with ExitStack() as stack:
        open_ = {name: stack.enter_context(closing(way.open())) for name, way in ways.items()}
        for connection in open_.values():
            fetch(connection, "/small")
        found: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(rounds):
            names = list(ways) if number % 2 else list(ways)[::-1]
            for name in names:
                found[name].append(measure(open_[name]))
    return found


def ratio(found: dict[str, list[float]], name: str, to: str) -> float:
    """Return the median of the pairs' ratios."""
    return statistics.median(a / b for a, b in zip(found[name], found[to], strict=True))


def latency(ways: dict[str, Way], rounds: int) -> None:
    """Print small requests' ratios to a direct connection."""
    for client, measure in (("http.client", usual_requests), ("bare sockets", small_requests)):
        found = paired(ways, measure, rounds)
        direct = statistics.median(found["direct"]) * 1000
        for name in ways:
            if name != "direct":
                value = ratio(found, name, "direct")
                print(f"small request, {client}, {name}: {value:.2f} x direct ({direct:.3f} ms)")


def everyday(ways: dict[str, Way], rounds: int) -> None:
    """Print the same ratios for httpx, the client beneath the model vendors' own libraries."""
    with ExitStack() as stack:
        clients = {name: stack.enter_context(everyday_client(way)) for name, way in ways.items()}
        found: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(rounds + 1):
            for name in list(ways) if number % 2 else list(ways)[::-1]:
                times = []
                for _ in range(SMALL_EACH):
                    begun = time.perf_counter()
                    clients[name].get("/small").raise_for_status()
                    times.append(time.perf_counter() - begun)
                # The first round opens the connections.
                found[name] += [statistics.median(times)] if number else []
    direct = statistics.median(found["direct"]) * 1000
    for name in ways:
        if name != "direct":
            value = ratio(found, name, "direct")
            print(f"small request, httpx, {name}: {value:.2f} x direct ({direct:.3f} ms)")


def everyday_client(way: Way) -> httpx.Client:
    """Return a client that goes this way for every request."""
    proxy = None if way.target is None else f"http://127.0.0.1:{way.port}"
    place = f"localhost:{way.port}" if way.target is None else way.target
    trusted = ssl.create_default_context(cafile=str(way.authority))
    return httpx.Client(base_url=f"https://{place}", proxy=proxy, verify=trusted)


def throughput(ways: dict[str, Way], rounds: int) -> None:
    """Print bulk's ratios: from a limited server to direct, and unlimited to mitmproxy's."""
    limited = paired(ways, lambda one: bulk(one, LIMITED_BULK, LIMITED_RATE), max(3, rounds // 3))
    for name in ways:
        if name in {"tunnel", "inspected"}:
            print(f"bulk of 25 MB/s, {name}: {1 / ratio(limited, name, 'direct'):.2f} x direct")
    whole = paired(ways, lambda one: bulk(one, BULK), max(3, rounds // 2))
    for name in ways:
        rate = BULK / statistics.median(whole[name]) / 1e6
        print(f"bulk, {name}: {rate:.0f} MB/s")
    for name in ("tunnel", "inspected"):
        other = f"mitmproxy {name}"
        if other in ways:
            print(f"bulk, {name}: {1 / ratio(whole, name, other):.2f} x mitmproxy")


def crowd(way: Way, process: int) -> None:
    """Print what many connections at one time cost the proxy's process in memory."""
    rounds = []
    for _ in range(3):
        with ExitStack() as stack:
            open_ = [stack.enter_context(closing(way.open())) for _ in range(CROWD)]
            for _ in range(CROWD_EACH):
                for connection in open_:
                    fetch(connection, "/small")
            rounds.append(resident(process))
    grown = [f"{value / 1024**2:.0f}" for value in rounds]
    print(f"{CROWD} connections, {way.name}, three times: {' → '.join(grown)} MiB resident")


def resident(process: int) -> int:
    """Return a process's resident bytes."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmRSS")


@contextmanager
def started(*words: str, **environ: str) -> Iterator[tuple[int, str]]:
    """Run a part of the benchmark; its process id and the first line that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | environ,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.pid, process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.terminate()
        process.wait(timeout=20)


@contextmanager
def mitmproxy(folder: Path, server: int, authority: Path) -> Iterator[dict[str, Way]]:
    """The ways through mitmproxy, tunnelled and inspected; none where it is not here."""
    program = os.environ.get("MITMDUMP") or shutil.which("mitmdump")
    if program is None:
        print("mitmproxy: not measured; MITMDUMP names its program")
        yield {}
        return
    ways = {}
    with ExitStack() as stack:
        for name, more in (("tunnel", ["--ignore-hosts", ".*"]), ("inspected", [])):
            with closing(socket.create_server(("127.0.0.1", 0))) as free:
                port = free.getsockname()[1]
            home = folder / name
            options = (
                *("--set", f"confdir={home}", "--set", "connection_strategy=lazy"),
                *("--set", f"ssl_verify_upstream_trusted_ca={authority}"),
            )
            process = subprocess.Popen(
                [program, "-q", "--listen-host", "127.0.0.1", "-p", str(port), *more, *options],
                stdout=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
            own = authority if more else home / "mitmproxy-ca-cert.pem"
            wait_for(port, own)
            ways[f"mitmproxy {name}"] = Way(
                f"mitmproxy {name}", port, own, target=f"localhost:{server}"
            )
        yield ways


def wait_for(port: int, file: Path) -> None:
    """Return when a port takes connections and a file is there."""
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
            continue
        if file.exists():
            return
        time.sleep(0.1)
    raise RuntimeError(f"nothing listens on port {port}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        authority, certificate, key = make_server_certificate(folder, [HOST, "localhost"])
        parts = "benchmarks.egress_parts"
        _, server = stack.enter_context(started(f"{parts}.upstream", str(certificate), str(key)))
        session = folder / "session-ca.pem"
        process, ports = stack.enter_context(
            started(f"{parts}.proxy", server, str(authority), str(session), str(folder / "audit"))
        )
        tunnel, inspected = map(int, ports.split())
        ways = {
            "direct": Way("direct", int(server), authority),
            "tunnel": Way("tunnel", tunnel, authority, target=f"{HOST}:443"),
            "inspected": Way("inspected", inspected, session, target=f"{HOST}:443"),
        }
        ways |= stack.enter_context(mitmproxy(folder, int(server), authority))
        latency(ways, rounds)
        everyday(ways, rounds)
        throughput(ways, rounds)
        for one in ("tunnel", "inspected"):
            crowd(ways[one], process)
    return 0


if __name__ == "__main__":
    sys.exit(main())
