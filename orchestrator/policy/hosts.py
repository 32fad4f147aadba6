"""One spelling for each host, and a refusal of whatever two programs could read in two ways.

A name that policy compares must be the name that the resolver, the certificate check and the server
at the other end will see. So there is no guessing here: what is not plainly a name or an address in
its usual spelling is no host.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from functools import lru_cache

BAD_HOST = "bad-host"
"""Rule of a refusal: not a host at all, or not in one meaning."""
ODD_ADDRESS = "odd-address"
"""Rule of a refusal: an address, but spelled so that readers differ on which."""

_MAX_NAME = 253
_MAX_LABEL = 63
_MAX_TEXT = 1024
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\Z")
_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")
_DOTS = "\u3002\uff0e\uff61"
"""Characters that some standards take for a dot."""
_TWO_READINGS = "\u00df\u03c2\u200c\u200d"
"""Characters that IDNA 2003 drops or maps and IDNA 2008 keeps: two names in one spelling."""
_SPECIAL_SUFFIXES = (
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "home.arpa",
    "lan",
    "svc",
)
_SPECIAL_NAMES = frozenset({"metadata", "instance-data"})


class HostRefused(ValueError):  # noqa: N818 - it tells what was done with it
    """A text that names no host, or names one ambiguously."""

    def __init__(self, reason: str, rule: str = BAD_HOST) -> None:
        """``reason`` is safe to show; ``rule`` is ``bad-host`` or ``odd-address``."""
        super().__init__(reason)
        self.reason = reason
        self.rule = rule


def canonical_host(text: str | bytes) -> str:
    """Return the one spelling of a host: a name in A-labels and lower case, or an address.

    An IPv6 address may stand in brackets. Raises HostRefused for anything else: no port, no user
    name, no escape, no zone, no address in decimal, octal, hexadecimal or short form.
    """
    host = _decoded(text)
    if ":" in host or host.startswith("["):
        return _ipv6(host)
    name = host.removesuffix(".")
    if not host.isascii():
        name = _a_labels(name)
    name = name.lower()
    labels = name.split(".")
    if _NUMBER.match(labels[-1]):
        # What ends in a number is an address to every resolver, or an error.
        return _ipv4(host)
    if len(name) > _MAX_NAME:
        raise HostRefused(f"the name has more than {_MAX_NAME} characters")
    for label in labels:
        _check_label(label)
    return name


def is_address(host: str) -> bool:
    """Say whether a canonical host is an address rather than a name."""
    return ":" in host or _NUMBER.match(host.rpartition(".")[2]) is not None


@lru_cache(maxsize=512)
def special_name(host: str) -> str | None:
    """Return why a canonical name may mean something near, None for an ordinary one.

    Such a name is let through only by a rule that names it exactly.
    """
    if host in _SPECIAL_NAMES:
        return "names the machine that runs this one, or its metadata"
    for suffix in _SPECIAL_SUFFIXES:
        if host == suffix or host.endswith(f".{suffix}"):
            return f"ends in {suffix!r}, which networks use for what is near"
    if "." not in host:
        return "is a single label, which networks use for what is near"
    return None


def _decoded(text: str | bytes) -> str:
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError:
            raise HostRefused("the host is neither ASCII nor UTF-8") from None
    if not text:
        raise HostRefused("the host is empty")
    if len(text) > _MAX_TEXT:
        raise HostRefused(f"the host has more than {_MAX_TEXT} characters")
    if _invisible(text):
        raise HostRefused("the host holds a blank, control or invisible character")
    if "@" in text:
        raise HostRefused("the host brings a user name")
    if "%" in text:
        raise HostRefused("the host holds an escape or a zone", ODD_ADDRESS)
    return text


def _ipv6(text: str) -> str:
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        address = ipaddress.IPv6Address(bare)
    except ValueError:
        raise HostRefused("the host is no name and no IPv6 address", ODD_ADDRESS) from None
    # A mapped address is IPv4 on the wire, whatever it is called.
    return str(address.ipv4_mapped or address)


def _ipv4(text: str) -> str:
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise HostRefused(
            "the host ends in a number, but is not an IPv4 address in four decimal parts",
            ODD_ADDRESS,
        ) from None


def _a_labels(name: str) -> str:
    """Return a name in its A-labels, of which there is only one reading."""
    # Costs 8 ms, and nearly all names are ASCII.
    import idna  # noqa: PLC0415

    if any(char in name for char in _DOTS + _TWO_READINGS):
        raise HostRefused("the name holds a character that standards read in two ways")
    labels = []
    for label in name.split("."):
        if label.isascii():
            labels.append(label)
            continue
        if unicodedata.normalize("NFKC", label).isascii():
            raise HostRefused("the name holds characters that stand for ASCII ones")
        try:
            labels.append(idna.encode(label.lower()).decode())
        except (idna.IDNAError, UnicodeError):
            raise HostRefused("the name holds characters that no name may have") from None
    return ".".join(labels)


def _check_label(label: str) -> None:
    if not label:
        raise HostRefused("the name has an empty part")
    if len(label) > _MAX_LABEL:
        raise HostRefused(f"a part of the name has more than {_MAX_LABEL} characters")
    if not _LABEL.match(label):
        raise HostRefused("the name holds characters that no name may have")
    if label.startswith("xn--"):
        _check_punycode(label)


def _check_punycode(label: str) -> None:
    try:
        decoded = label[4:].encode().decode("punycode")
        again = decoded.encode("punycode").decode()
    except UnicodeError:
        again, decoded = "", ""
    if (
        again != label[4:]
        or _invisible(decoded)
        or unicodedata.normalize("NFKC", decoded).isascii()
    ):
        raise HostRefused("a part of the name begins with xn-- and encodes no name")


def _invisible(text: str) -> bool:
    return any(unicodedata.category(char)[0] in "CZ" for char in text)
