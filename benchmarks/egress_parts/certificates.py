"""A certificate authority and a server's certificate, made anew for each run."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_LIFE = dt.timedelta(days=1)


def make_server_certificate(folder: Path, names: list[str]) -> tuple[Path, Path, Path]:
    """Return the files of an authority, and of a certificate for ``names`` and its key."""
    root_key = ec.generate_private_key(ec.SECP256R1())
    root_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "benchmark")])
    root = (
        _begun(root_name, root_name, root_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(root_key, hashes.SHA256())
    )
    key = ec.generate_private_key(ec.SECP256R1())
    own_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    own = (
        _begun(own_name, root_name, key)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False
        )
        .sign(root_key, hashes.SHA256())
    )
    files = (folder / "authority.pem", folder / "server.pem", folder / "server.key")
    files[0].write_bytes(root.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(own.public_bytes(serialization.Encoding.PEM))
    files[2].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _LIFE)
        .not_valid_after(now + _LIFE)
    )
