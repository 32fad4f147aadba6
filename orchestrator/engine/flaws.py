"""Known ways out of a container through the engine's own parts, as data; ``known_bad`` judges by it.

Only flaws that reach a box are listed: an escape, or what another user of the host could do to it.
A number alone says little where a distribution carries a fix to an older version, so each entry
also knows the revisions that do. Add an entry when an advisory appears; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Flaw:
    """One published flaw of one component."""

    id: str
    component: str
    """``runc crun containerd``."""
    fixed: tuple[str, ...]
    """The first version of each upstream branch without it, oldest branch first."""
    what: str
    """What it lets whoever do, in a few words."""
    backports: Mapping[str, str] = field(default_factory=dict)
    """Mark in a distribution's revision, such as ``deb12u``, to the first revision without it."""


FLAWS = (
    Flaw("CVE-2021-30465", "runc", ("1.0.0-rc95",), "mount race out of the container"),
    Flaw("CVE-2023-27561", "runc", ("1.1.5",), "/proc replaced by a link of the image"),
    Flaw("CVE-2023-28642", "runc", ("1.1.5",), "AppArmor and SELinux passed by"),
    Flaw(
        "CVE-2024-21626",
        "runc",
        ("1.1.12",),
        "a leaked directory descriptor leads to the host",
        {
            "deb11u": "1.0.0~rc93+ds1-5+deb11u3",
            "deb12u": "1.1.5+ds1-1+deb12u1",
            "0ubuntu1~20.04": "1.1.7-0ubuntu1~20.04.2",
            "0ubuntu1~22.04": "1.1.7-0ubuntu1~22.04.2",
        },
    ),
    Flaw("CVE-2024-45310", "runc", ("1.1.14", "1.2.0-rc3"), "empty files made on the host"),
    Flaw(
        "CVE-2025-31133",
        "runc",
        ("1.2.8", "1.3.3", "1.4.0-rc.3"),
        "masked paths replaced in a race",
        {"deb13u": "1.1.15+ds1-2+deb13u1"},
    ),
    Flaw(
        "CVE-2025-52565",
        "runc",
        ("1.2.8", "1.3.3", "1.4.0-rc.3"),
        "/dev/console replaced in a race",
        {"deb13u": "1.1.15+ds1-2+deb13u1"},
    ),
    Flaw(
        "CVE-2025-52881",
        "runc",
        ("1.2.8", "1.3.3", "1.4.0-rc.3"),
        "writes to /proc sent elsewhere in a race",
    ),
    Flaw(
        "CVE-2026-41579",
        "runc",
        ("1.3.6", "1.4.3"),
        "/dev of a hostile image leads to the host",
        {"deb13u": "1.1.15+ds1-2+deb13u1"},
    ),
    Flaw("CVE-2020-15257", "containerd", ("1.3.9", "1.4.3"), "shim reached by an abstract socket"),
    Flaw(
        "CVE-2022-23648",
        "containerd",
        ("1.4.13", "1.5.10", "1.6.1"),
        "host files read through a volume of the image",
    ),
    Flaw(
        "CVE-2024-25621",
        "containerd",
        ("1.7.29", "2.0.7", "2.1.5", "2.2.0"),
        "its state is open to other users of the host",
        {"deb12u": "1.6.20~ds1-1+deb12u2", "deb13u": "1.7.24~ds1-6+deb13u1"},
    ),
    Flaw(
        "CVE-2024-40635",
        "containerd",
        ("1.6.38", "1.7.27", "2.0.4"),
        "a user id over 32 bits becomes root",
        {"deb12u": "1.6.20~ds1-1+deb12u2", "1.7.24~ds1-": "1.7.24~ds1-6"},
    ),
)
