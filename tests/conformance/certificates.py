"""A certificate authority for one run, with a server's and a client's certificate."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = dt.timedelta(days=1)


def write_certificates(folder: Path) -> None:
    """Write ``ca.pem``, ``server-cert.pem``, ``server-key.pem``, ``cert.pem`` and ``key.pem``."""
    folder.mkdir()
    authority = ec.generate_private_key(ec.SECP256R1())
    root = _builder("conformance authority", "conformance authority", authority.public_key())
    root = root.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    (folder / "ca.pem").write_bytes(_pem(root.sign(authority, hashes.SHA256())))
    for name, usage, prefix in (
        ("127.0.0.1", ExtendedKeyUsageOID.SERVER_AUTH, "server-"),
        ("client", ExtendedKeyUsageOID.CLIENT_AUTH, ""),
    ):
        key = ec.generate_private_key(ec.SECP256R1())
        leaf = _builder(name, "conformance authority", key.public_key())
        leaf = leaf.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        leaf = leaf.add_extension(x509.SubjectAlternativeName([address]), critical=False)
        (folder / f"{prefix}cert.pem").write_bytes(_pem(leaf.sign(authority, hashes.SHA256())))
        secret = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        (folder / f"{prefix}key.pem").write_bytes(secret)


def _builder(name: str, issuer: str, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(issuer))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
