"""A program in a box that asks for what a case of the egress corpus says, over a real socket."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

REACHED = b"the server was reached"
BANNER = b"SSH-2.0-OpenSSH_9.6\r\n"
_HOSTS = re.compile(r"Host: (\S+)")
_SENDS = re.compile(r"client sends (?:an? )?(?P<what>\S+)")


@dataclass(frozen=True)
class Program:
    """Speaks as a case says, and returns every byte that it got."""

    port: int
    """Of 127.0.0.1, where the proxy listens."""
    trusts: str
    """PEM of the authorities that it trusts."""

    def fetch(self, case: Mapping[str, Any], *, scheme: str) -> bytes:
        """Ask in the usual way: a tunnel for all but plain http."""
        request = case["request"]
        host, port = str(request["host"]), int(request["port"])
        if scheme == "http" and request["how"] != "connect":
            return self.plainly(case, scheme)
        with self._connected() as link:
            end = f"[{host}]" if ":" in host else host
            link.sendall(f"CONNECT {end}:{port} HTTP/1.1\r\nHost: {end}:{port}\r\n\r\n".encode())
            answer = _head(link)
            if not answer.startswith(b"HTTP/1.1 200"):
                return answer
            sends = _SENDS.search(str(request.get("note", "")))
            if sends or scheme == "tcp":
                link.sendall(BANNER)
                return _rest(link)
            if scheme == "http":
                link.sendall(_request(request, target=str(request.get("path") or "/")))
                return _rest(link)
            return self._inside(link, request, host)

    def plainly(self, case: Mapping[str, Any], scheme: str) -> bytes:
        """Ask the proxy itself, by the whole URL."""
        request = case["request"]
        path = str(request.get("path") or "/")
        host, port = str(request["host"]), int(request["port"])
        usual = {"http": 80, "https": 443}[scheme]
        end = f"[{host}]" if ":" in host else host
        place = end if port == usual else f"{end}:{port}"
        target = path if "://" in path else f"{scheme}://{place}{path}"
        with self._connected() as link:
            link.sendall(_request(request, target=target))
            return _rest(link)

    def _connected(self) -> socket.socket:
        link = socket.create_connection(("127.0.0.1", self.port))
        link.settimeout(10)
        return link

    def _inside(self, link: socket.socket, request: Mapping[str, Any], host: str) -> bytes:
        name = request.get("sni", host) or None
        context = ssl.create_default_context(cadata=self.trusts)
        context.check_hostname = name is not None
        try:
            with context.wrap_socket(link, server_hostname=name) as inside:
                inside.sendall(_request(request, target=str(request.get("path") or "/")))
                return _rest(inside)
        except OSError as error:
            return f"broke off: {error}".encode()


def _request(request: Mapping[str, Any], *, target: str) -> bytes:
    headers = [(str(key), str(value)) for key, value in (request.get("headers") or {}).items()]
    hosts = _HOSTS.findall(str(request.get("note", "")))
    if hosts:
        headers = [("Host", host) for host in hosts]
    if not any(name.lower() == "host" for name, _ in headers):
        host = str(request["host"])
        headers.insert(0, ("Host", f"[{host}]" if ":" in host else host))
    if any("upgrade" in name.lower() for name, _ in headers):
        headers += _missing(headers, {"Connection": "Upgrade"})
        headers += _missing(
            headers,
            {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"},
        )
    method = str(request.get("method") or "GET")
    names = [name.lower().strip() for name, _ in headers]
    body = ""
    if "transfer-encoding" in names:
        body = "0\r\n\r\n"
    elif "content-length" in names:
        body = "abcd"
    elif method in {"POST", "PUT", "PATCH"}:
        headers.append(("Content-Length", "4"))
        body = "abcd"
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", body]).encode("utf-8", "surrogateescape")


def _missing(headers: list[tuple[str, str]], usual: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    there = {name.lower() for name, _ in headers}
    return [(name, value) for name, value in usual.items() if name.lower() not in there]


def _head(link: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data and (piece := link.recv(1)):
        data += piece
    if b"content-length" in data and not data.startswith(b"HTTP/1.1 200"):
        data += _rest(link)
    return data


def _rest(link: socket.socket) -> bytes:
    """Receive to the end, or as far as the server's word."""
    data = b""
    try:
        while REACHED not in data and b"SSH" not in data and (piece := link.recv(65536)):
            data += piece
    except OSError as error:
        return data + f"broke off: {error}".encode()
    return data
