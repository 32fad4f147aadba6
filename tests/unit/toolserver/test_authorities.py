import datetime as dt
import os
import shutil
import subprocess

import pytest
import trust
from authorities import extend, java_store
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding


def authority(name):
    """Return a certificate as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(Encoding.PEM).decode()


def test_bundle_holds_the_image_s_and_the_session_s(tmp_path):
    """In a file that programs may read and only root may write; and no more when it is over."""
    (tmp_path / "store").write_text("own\n")
    places = str(tmp_path), str(tmp_path / "store")
    trust.begin(*places)
    for name in ("one", "two"):
        extend(f"{name}\n", *places)
        bundle = tmp_path / trust.BUNDLE
        assert bundle.read_text() == f"own\n\n{name}\n"
        assert not bundle.is_symlink()
        assert bundle.stat().st_mode & 0o777 == 0o644
    trust.begin(*places)

    assert (tmp_path / trust.BUNDLE).read_text() == "own\n"
    assert (tmp_path / "store").read_text() == "own\n"


def test_store_that_is_no_file_is_no_store(tmp_path):
    """An image has there what it wants: nothing waits for it, no link is followed."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/etc/shadow")
    (tmp_path / "folder").mkdir()
    for name in ("fifo", "link", "folder", "missing"):
        extend("more\n", str(tmp_path), str(tmp_path / name))
        assert (tmp_path / trust.BUNDLE).read_text() == "\nmore\n"


@pytest.mark.skipif(not shutil.which("keytool"), reason="needs a Java on this machine")
def test_java_reads_its_store(tmp_path):
    """Every authority of the bundle is trusted, and the seal is right."""
    bundle = authority("First") + "some words\n" + authority("Second")
    (tmp_path / "store").write_bytes(java_store(bundle.encode()))
    listed = subprocess.run(
        ["keytool", "-list", "-v", "-keystore", tmp_path / "store", "-storepass", "changeit"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout

    assert listed.count("trustedCertEntry") == 2
    assert "CN=First" in listed
    assert "CN=Second" in listed
