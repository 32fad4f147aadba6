"""The side of the proxy that faces servers: who they are is proved before they are told anything."""

from __future__ import annotations

import ssl

from orchestrator.egress.seams import ByteStream
from orchestrator.egress.tls.stream import TlsError, TlsStream

HTTP_1_1 = "http/1.1"

_PROBLEMS = {
    2: "it is signed by an authority that is not trusted",
    9: "it is not valid yet",
    10: "it has expired",
    18: "it is signed by itself",
    19: "it is signed by an authority that is not trusted",
    20: "it is signed by an authority that is not trusted",
    21: "it is signed by an authority that is not trusted, or the server left a certificate out",
    23: "it has been revoked",
    62: "it is for another name",
    64: "it is for another address",
}
"""By the codes of X509_V_ERR in OpenSSL's ``x509_vfy.h``."""


class CertificateError(TlsError):
    """Raised when a server could not prove who it is; nothing was sent to it."""

    def __init__(self, host: str, problem: str) -> None:
        """Keep the problem, in words."""
        super().__init__(f"the certificate of {host} does not hold: {problem}")
        self.problem = problem


def upstream_context(extra_ca: str = "") -> ssl.SSLContext:
    """Return how servers are verified: by the host's own store, and ``extra_ca`` (PEM) besides.

    ValueError where ``extra_ca`` holds no certificate.
    """
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols([HTTP_1_1])
    if extra_ca.strip():
        try:
            context.load_verify_locations(cadata=extra_ca)
        except ssl.SSLError as error:
            raise ValueError(
                f"expected certificates in PEM form, got what OpenSSL calls {error.reason or error}"
            ) from error
    return context


async def connect(stream: ByteStream, host: str, context: ssl.SSLContext) -> TlsStream:
    """Return the verified connection to ``host``. CertificateError, TlsError, OSError."""
    tls = TlsStream(stream, context, host)
    try:
        await tls.start()
    except TlsError as error:
        if isinstance(error.__cause__, ssl.SSLCertVerificationError):
            raise CertificateError(host, _problem(error.__cause__)) from error
        raise
    if tls.protocol not in {None, HTTP_1_1}:
        raise TlsError(f"{host} insists on a protocol that was not offered")
    return tls


def _problem(error: ssl.SSLCertVerificationError) -> str:
    return _PROBLEMS.get(error.verify_code, str(error.verify_message).lower())
