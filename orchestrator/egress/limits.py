"""What a connection may take of the host: time, in seconds, and counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the proxy itself; those of policy come with each verdict."""

    connections: int = 512
    """Of the box, at one time."""
    head_s: float = 60.0
    """For a head that began to arrive."""
    idle_s: float = 300.0
    """Without a byte in either direction, within a request."""
    tunnel_idle_s: float = 3600.0
    """The same in a tunnel that is not opened, and after a switch to WebSocket."""
    keep_s: float = 75.0
    """Between two requests of one connection."""
    connect_s: float = 15.0
    """To one address."""
    stagger_s: float = 2.0
    """Before the next address is tried beside one that does not answer."""
    tls_s: float = 20.0
    """For a handshake, and for a ClientHello to come."""
    gone_s: float = 5.0
    """For the answer to a client that said it sends no more, and may be gone."""
    continue_s: float = 1.0
    """For the server to say whether it wants a body that waits for its word."""
    linger_s: float = 2.0
    """That a refused sender is listened to, so that it reads why."""
    linger_bytes: int = 1024 * 1024
