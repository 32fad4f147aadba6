"""TLS as the proxy needs it: the session's authority on the box's side, the host's store beyond."""

from __future__ import annotations

import ssl

from orchestrator.egress.seams import ByteStream
from orchestrator.egress.tls.authority import Authority
from orchestrator.egress.tls.stream import TlsStream
from orchestrator.egress.tls.upstream import connect


class SessionTls:
    """The seam ``Tls``, with real certificates."""

    def __init__(self, authority: Authority, servers: ssl.SSLContext) -> None:
        """Sign with ``authority`` for the box; verify servers by ``servers``."""
        self._authority = authority
        self._servers = servers

    async def terminate(self, stream: ByteStream, host: str) -> TlsStream:
        """Be the server ``host`` towards the box; TlsError where the client does not take that."""
        return await self._authority.terminate(stream, host)

    async def connect(self, stream: ByteStream, host: str) -> TlsStream:
        """Be a client of ``host``; CertificateError where it cannot prove who it is."""
        return await connect(stream, host, self._servers)
