"""What the host told the server in its first message; read by every other module, changed by none.

Only the variables of commands are others while something is let out.
Plain NamedTuples: the dataclasses module would cost a third of the server's start-up time.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Limits(NamedTuple):
    """Bounds of one command; all sizes in bytes."""

    file_size: int
    """RLIMIT_FSIZE."""
    disk: int
    """What may be written below ``writable`` together."""
    files: int
    """How many names may be made or changed in the workspace."""
    output: int
    """Output of one command, after which it is ended."""


class Config(NamedTuple):
    """One session's settings."""

    workdir: str
    """The workspace."""
    home: str
    """HOME of commands."""
    spill_dir: str
    """Where the full text of a long output is kept."""
    read_roots: tuple[str, ...]
    """Further directories that file requests may read."""
    writable: tuple[str, ...]
    """Every mount that a command can fill."""
    uid: int
    gid: int
    environment: dict[str, str]
    """The whole environment of a command."""
    limits: Limits
    exec_record: bool
    """Whether the programs that commands start are recorded."""


class InvalidHelloError(ValueError):
    """Raised for a first message that does not fit; the host and the image differ in version."""


def parse_config(hello: dict[str, Any]) -> Config:
    """Return the settings in the host's hello; refuses to run commands as root."""
    try:
        config = Config(
            workdir=str(hello["workdir"]),
            home=str(hello["home"]),
            spill_dir=str(hello["spill_dir"]),
            read_roots=tuple(str(root) for root in hello["read_roots"]),
            writable=tuple(str(path) for path in hello["writable"]),
            uid=int(hello["uid"]),
            gid=int(hello["gid"]),
            environment={str(name): str(value) for name, value in hello["environment"].items()},
            exec_record=bool(hello["exec_record"]),
            limits=Limits(**{name: int(hello["limits"][name]) for name in Limits._fields}),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        raise InvalidHelloError(f"hello does not fit this server: {err!r}") from err
    if config.uid <= 0 or config.gid <= 0:
        raise InvalidHelloError(f"uid {config.uid}, gid {config.gid}: commands never run as root")
    return config
