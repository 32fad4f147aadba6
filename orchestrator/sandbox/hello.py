"""The first words between host and box: what the server must know, and what it says back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from orchestrator.errors import BoxError
from orchestrator.sandbox.container_spec import HOME, SOCKET_MOUNT, writable_places
from orchestrator.sandbox.driver import BoxSpec

VERSION: Final = 4
"""Of the wire and of the hello; host and image must have the same."""
SPILL_DIRECTORY = "/tmp/.glovebox-spill"  # noqa: S108 - in the box
OUTPUT_LIMIT = 128 * 1024 * 1024
"""Bytes of output after which a command is ended; half is room for in /tmp by default."""
SOCKET_NAME = "glove"

_BASE_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_CTYPE": "C.UTF-8",
    "TERM": "dumb",
}
SHELL = "/opt/glovebox/bash"
"""The shell of every command: our own, whatever the image has."""

_HOOKS = re.compile(
    r"LD_(?!LIBRARY_PATH$).*|GLIBC_TUNABLES|MALLOC_.*|BASH_.*|BASHOPTS|CDPATH|ENV|IFS|PROMPT_COMMAND"
    r"|PS[0-4]|SHELLOPTS|PYTHONHOME|PYTHONSTARTUP"
)
"""Variables of an image that change what a command line means, or load code into every program."""


class Ready(BaseModel):
    """The server's answer."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    version: Literal[4]
    transport: Literal["socket", "stdio"]
    problem: Annotated[str, StringConstraints(max_length=4096)] | None
    """Why it could not reach the socket, where there was one."""


def hello_bytes(
    spec: BoxSpec, image_environment: Iterable[str], *, token: str, has_socket: bool
) -> bytes:
    """Return the hello; never a secret of anybody but the one-time token of this connection."""
    limits = spec.limits
    return json.dumps(
        {
            "version": VERSION,
            "token": token,
            "socket": f"{SOCKET_MOUNT}/{SOCKET_NAME}" if has_socket else None,
            "uid": spec.uid,
            "gid": spec.gid,
            "workdir": spec.workdir,
            "home": HOME,
            "spill_dir": SPILL_DIRECTORY,
            "read_roots": list(spec.read_roots),
            "writable": list(writable_places(spec)),
            "exec_record": spec.exec_record,
            "environment": command_environment(spec, image_environment),
            "limits": {
                "file_size": limits.file_size,
                "disk": limits.disk,
                "files": limits.files,
                "output": min(OUTPUT_LIMIT, limits.disk),
            },
        }
    ).encode()


def command_environment(spec: BoxSpec, image_environment: Iterable[str]) -> dict[str, str]:
    """Return the whole environment of a command: the image's, the box's own, the spec's.

    Of the image's what says where things are (PATH, LANG, JAVA_HOME); what makes every program
    load something first (LD_PRELOAD, BASH_ENV) is left out.
    """
    image = dict(entry.split("=", 1) for entry in image_environment if "=" in entry)
    image = {name: value for name, value in image.items() if not is_hook(name)}
    if image.get("LANG") == "C.UTF-8":
        # Says no more than LC_CTYPE does, and has each program open eleven files for it.
        del image["LANG"]
    own = {"HOME": HOME, "USER": "agent", "LOGNAME": "agent", "SHELL": SHELL}
    return {**_BASE_ENVIRONMENT, **image, **own, **spec.environment}


def is_hook(name: str) -> bool:
    """Say whether a variable changes what a command line means, or loads code into programs."""
    return _HOOKS.fullmatch(name) is not None


def parse_ready(payload: bytes) -> Ready:
    """Return the server's answer; BoxError for another version or shape."""
    try:
        return Ready.model_validate_json(payload)
    except ValidationError as err:
        raise BoxError(
            f"box: its tool server does not speak version {VERSION}",
            hint="run `glovebox image build`; an image of your own needs the present tool server",
        ) from err
