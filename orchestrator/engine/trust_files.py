"""Where images keep the authorities that programs trust, and what a box has in that place.

In a box ``TRUST`` is a tmpfs of the tool server's, with the bundle that counts; the usual places
are links to it. Without a box, as in a build, the same link leads to what the image trusts itself.
``sandbox-image/toolserver/trust.py`` writes it, ``prepare-root.sh`` does the same for our image.
"""

from __future__ import annotations

from collections.abc import Callable

TRUST = "/opt/glovebox-trust"
STORE = "/opt/glovebox-store/ca-certificates.crt"
"""What the image trusts."""
BUNDLE = f"{TRUST}/ca-certificates.crt"
JAVA_STORE = f"{TRUST}/cacerts.jks"

PLACES = (
    # Debian, Alpine, Arch and theirs; Fedora's; openSUSE's; as each writes it.
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ca-certificates/extracted/tls-ca-bundle.pem",
    "/var/lib/ca-certificates/ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
MOST = 4 * 1024**2
"""Bytes of a bundle; a larger one is none."""

Read = Callable[[str], bytes | None]
"""Returns the content of the plain file at a path; None for a link, or where there is none."""


def trust_files(read: Read, shipped: Read) -> tuple[list[tuple[str, bytes]], list[tuple[str, str]]]:
    """Return the files and links that an image's layer needs, each with its path.

    An image without authorities of its own gets those of ours, which ``shipped`` reads.
    """
    bundles = {place: found for place in PLACES if (found := read(place)) is not None}
    links = [(place, BUNDLE) for place in bundles]
    links.append((BUNDLE, STORE))
    if bundles:
        return [(STORE, next(iter(bundles.values())))], links
    if read(STORE) is not None:
        return [], []
    return [(STORE, shipped(STORE) or b"")], [(PLACES[0], BUNDLE), *links]
