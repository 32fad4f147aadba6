"""The session's own certificate authority: in memory only, trusted by its box and by nobody else.

Its keys are written nowhere. OpenSSL takes a certificate's key from a file alone; that file is an
anonymous one in memory (``memfd``), which has no name and is gone when it is closed.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
import ssl
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from orchestrator.egress.seams import ByteStream
from orchestrator.egress.tls.names import is_address
from orchestrator.egress.tls.stream import TlsStream

_SKEW = dt.timedelta(days=1)
"""How far the box's clock, or a client's notion of it, may be behind."""
_CA_LIFE = dt.timedelta(days=90)
"""Longer than a session; the authority ends with its process in any case."""
_LEAF_LIFE = dt.timedelta(days=7)
_RENEW_BEFORE = dt.timedelta(days=1)
_MOST_LEAVES = 256
"""Names with a certificate at hand, some 40 KiB each; more are made anew when asked for."""
_MAX_COMMON_NAME = 64
"""X.520's bound; clients go by the alternative name, which has none."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    context: ssl.SSLContext
    renew: dt.datetime


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


class Authority:
    """Makes the certificates that the box is shown where its TLS is opened."""

    def __init__(self, session: str, *, now: Callable[[], dt.datetime] = _now) -> None:
        """Make keys and a root that names the session."""
        self._now = now
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._leaf_key = ec.generate_private_key(ec.SECP256R1())
        self._root = self._sign_root(session)
        self._leaves: OrderedDict[str, _Leaf] = OrderedDict()

    @property
    def certificate(self) -> str:
        """The root in PEM form, which is no secret."""
        return self._root.public_bytes(serialization.Encoding.PEM).decode()

    async def terminate(self, stream: ByteStream, host: str) -> TlsStream:
        """Be ``host`` for a client. TlsError where it does not believe that, OSError."""
        tls = TlsStream(stream, self.context(host), None)
        await tls.start()
        return tls

    def context(self, host: str) -> ssl.SSLContext:
        """Return what shows a certificate for ``host``, a canonical name or address, and no other."""
        now = self._now()
        leaf = self._leaves.get(host)
        if leaf is None or leaf.renew <= now:
            certificate = self._sign_leaf(host)
            renew = certificate.not_valid_after_utc - _RENEW_BEFORE
            leaf = _Leaf(self._server_context(certificate, host), renew)
            self._leaves[host] = leaf
        self._leaves.move_to_end(host)
        while len(self._leaves) > _MOST_LEAVES:
            self._leaves.popitem(last=False)
        return leaf.context

    def _sign_root(self, session: str) -> x509.Certificate:
        common = f"Glovebox session {session}"[:_MAX_COMMON_NAME]
        name = x509.Name(
            [
                x509.NameAttribute(NameOID.COMMON_NAME, common),
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Glovebox"),
            ]
        )
        public = self._key.public_key()
        return (
            self._builder(name, _CA_LIFE)
            .issuer_name(name)
            .public_key(public)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _sign_leaf(self, host: str) -> x509.Certificate:
        common = host if len(host) <= _MAX_COMMON_NAME else "Glovebox"
        public = self._leaf_key.public_key()
        alternative: x509.GeneralName = (
            x509.IPAddress(ipaddress.ip_address(host)) if is_address(host) else x509.DNSName(host)
        )
        root = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        server = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        return (
            self._builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)]), _LEAF_LIFE)
            .issuer_name(self._root.subject)
            .public_key(public)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(server, critical=False)
            .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(root, critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _builder(self, subject: x509.Name, life: dt.timedelta) -> x509.CertificateBuilder:
        now = self._now()
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _SKEW)
            .not_valid_after(now + life)
        )

    def _server_context(self, certificate: x509.Certificate, host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # Without resumption each connection is agreed on for its own name.
        context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
        context.num_tickets = 0
        context.set_alpn_protocols(["http/1.1"])
        context.sni_callback = _only(host)
        pem = self._leaf_key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ) + certificate.public_bytes(serialization.Encoding.PEM)
        file = os.memfd_create("leaf", os.MFD_CLOEXEC)
        try:
            os.write(file, pem)
            context.load_cert_chain(f"/proc/self/fd/{file}")
        finally:
            os.close(file)
        return context


def _only(host: str) -> Callable[[ssl.SSLObject, str | None, ssl.SSLContext], int | None]:
    """Return a check that OpenSSL reads the same name as our own parser did."""

    def check(_tls: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> int | None:
        if name is None and is_address(host):
            return None
        same = name is not None and name.lower().removesuffix(".") == host
        return None if same else ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME

    return check


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
