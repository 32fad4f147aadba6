"""Authorities and servers' certificates for tests, right ones and wrong ones."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
import warnings
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)


class ServerAuthority:
    """An authority as a company, or the web, has one."""

    def __init__(self, name: str = "Test authority") -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = self._sign(name, name, self.key, [], from_days=-1, days=30)

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, folder: Path, *hosts: str, from_days: int = -1, days: int = 30) -> Path:
        """Write a certificate with its key to one file and return it."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = self._sign(hosts[0], "", key, hosts, from_days=from_days, days=days)
        path = folder / f"{hosts[0].replace('*', 'any')}-{made.serial_number}.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + made.public_bytes(serialization.Encoding.PEM)
        )
        return path

    def server_context(self, folder: Path, *hosts: str, **when: int) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.issue(folder, *hosts, **when))
        return context

    def _sign(self, name, issuer, key, hosts, *, from_days, days):
        now = dt.datetime.now(dt.UTC)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        root = not hosts
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject if issuer else self.certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + from_days * DAY)
            .not_valid_after(now + days * DAY)
            .add_extension(x509.BasicConstraints(ca=root, path_length=None), critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()),
                critical=False,
            )
            .add_extension(
                x509.KeyUsage(not root, *[False] * 4, root, root, *[False] * 2), critical=True
            )
        )
        if hosts:
            names = x509.SubjectAlternativeName([_alternative(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self.key, hashes.SHA256())


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def make_old(context: ssl.SSLContext) -> None:
    """Let a context speak TLS 1.1 and older, and nothing newer."""
    context.set_ciphers("DEFAULT@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
