"""What policy has done to an image before the first box starts from it, as command lines. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import rfc8785

from orchestrator.engine.trust_files import BUNDLE
from orchestrator.errors import ConfigError
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.sandbox.way_environment import way_environment
from orchestrator.schema.ids import Digest, digest_of
from orchestrator.schema.way_out import WayOut

REPOSITORY = "glovebox/prepared"
FORMAT = "2"
"""Of what a step is; another number takes every image's steps anew."""

_PACKAGE = re.compile(
    r"[a-z0-9][a-z0-9+.-]*(?::[a-z0-9-]+)?(?:=[A-Za-z0-9.+~:-]+|/[a-z0-9][a-z0-9.-]*)?"
)
FOLDER = "/dev/shm/glovebox"  # noqa: S108 - in the container, in memory
"""Certificates and apt's settings: nothing of it can get into the image."""

_INSTALL = """set -e
command -v apt-get >/dev/null || {{
    echo 'this image has no apt-get; packages are installed with apt alone' >&2; exit 127; }}
apt-get -o APT::Update::Error-Mode=any update
apt-get install --yes --no-install-recommends -- {packages}
apt-get clean
rm -rf /var/lib/apt/lists/*
"""

TRUST = f"""umask 022
mkdir -p {FOLDER} && cd {FOLDER} || exit 1
printf '%s\\n' "$GLOVEBOX_AUTHORITY" > authority.pem
for store in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \\
        /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
    [ -r "$store" ] && cat "$store" && break
done > bundle.pem
cat authority.pem >> bundle.pem
echo 'Acquire::https::CAInfo "{FOLDER}/bundle.pem";' > apt.conf
"""
"""Before each step, since a step may be what brings the image's own store."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command line for the image's ``/bin/sh``."""

    what: str
    """In a few words, for people and the record."""
    command: str


def steps_of(policy: EffectivePolicy) -> tuple[Step, ...]:
    """Return the steps: the packages first, in one, then each command.

    Raises ConfigError for a name that is no package's, and where policy lets apt fetch nothing.
    """
    sandbox = policy.sandbox
    packages = sandbox.prepare_packages
    steps = [Step(f"run {command}", command) for command in sandbox.prepare_commands]
    if not packages:
        return tuple(steps)
    wrong = [name for name in packages if _PACKAGE.fullmatch(name) is None]
    if wrong:
        raise ConfigError(
            f"sandbox.prepare.packages: {', '.join(map(repr, wrong))}: expected names of Debian "
            "packages, such as git-lfs or git-lfs=3.3.0-1"
        )
    if "apt" not in policy.network.packages:
        raise ConfigError(
            f"sandbox.prepare.packages: {', '.join(packages)}: they are fetched with apt, which "
            "network.packages does not have",
            hint="add apt to network.packages of the same policy; no layer may leave it out",
        )
    install = _INSTALL.format(packages=shlex.join(packages))
    return Step(f"install {' '.join(packages)}", install), *steps


def prepared_name(policy: EffectivePolicy, of: Digest) -> str:
    """Return the name of the image with the steps taken: it stands for all that goes in.

    Network rules are part of it: what was fetched under wider ones is not used under narrower.
    """
    networks: list[Any] = [
        layer.document.network.model_dump(mode="json")
        for layer in policy.layers
        if layer.document.network is not None
    ]
    inputs: dict[str, Any] = {
        "format": FORMAT,
        "of": of,
        "steps": [step.command for step in steps_of(policy)],
        "networks": networks,
    }
    return f"{REPOSITORY}:{digest_of(rfc8785.dumps(inputs)).partition(':')[2][:12]}"


def trust_environment(way: WayOut) -> dict[str, str]:
    """Return the variables of the ``TRUST`` script."""
    return {"GLOVEBOX_AUTHORITY": way.certificates.strip()}


def step_environment(way: WayOut) -> dict[str, str]:
    """Return what commands of a box are told, with the authorities where ``TRUST`` put them.

    Java is told nothing: a step's image has no store of the session's for it.
    """
    told = way_environment(way, {"JAVA_TOOL_OPTIONS": ""})
    bundle = f"{FOLDER}/bundle.pem"
    moved = {name: bundle if value == BUNDLE else value for name, value in told.items()}
    return {**moved, "APT_CONFIG": f"{FOLDER}/apt.conf"}


PLAIN_ENVIRONMENT = {"DEBIAN_FRONTEND": "noninteractive", "HOME": "/root"}
"""Of every step, whether it has a network or not."""

_KEEPS = re.compile(
    r"/etc/(?:ssl|pki|ca-certificates|apt)/|/etc/(?:pip\.conf|npmrc|profile|environment)$"
    r"|/usr/(?:local/)?share/ca-certificates/|/root/\.|\.(?:pem|crt|cer|cert)$"
)
"""Where a step may have left the session's authority for good."""


def may_keep_authority(paths: Iterable[str]) -> list[str]:
    """Return the changed paths that are looked into before the image is made."""
    return [path for path in paths if _KEEPS.search(path)]


def authority_marks(way: WayOut) -> tuple[bytes, ...]:
    """Return a line of each certificate that no other certificate has."""
    blocks = way.certificates.split("-----BEGIN CERTIFICATE-----")[1:]
    # The last whole line is of the signature.
    return tuple(block.split("-----END")[0].split()[-2].encode() for block in blocks)
