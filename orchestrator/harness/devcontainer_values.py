"""Values of ``devcontainer.json``: variables without the host's, commands as shell lines. Pure."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Mapping
from functools import partial

from orchestrator.harness.box_spec import WORKDIR

Command = str | list[str] | dict[str, str | list[str]]

_VARIABLE = re.compile(r"\$\{([A-Za-z]+)(?::([^}:]*))?(?::([^}]*))?\}")


def container_variables(values: Mapping[str, str], image: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with ``${containerEnv:NAME}`` taken from the image and each other."""
    done: dict[str, str] = {}
    for name, value in values.items():
        done[name] = _VARIABLE.sub(
            lambda match: {**image, **done}.get(match[2] or "", match[3] or ""), value
        )
    return done


def written_variables(given: Mapping[str, str | None], notices: list[str]) -> dict[str, str]:
    """Return the variables as far as they can be told; the host's own are never put in.

    What is left out is added to ``notices``.
    """
    found = {}
    for name, value in given.items():
        if value is None:
            continue
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            notices.append(f"not used: the variable {name!r}")
            continue
        found[name] = _VARIABLE.sub(partial(_local, name=name, notices=notices), value)
    return found


def _local(match: re.Match[str], *, name: str, notices: list[str]) -> str:
    kind, key, default = match[1], match[2], match[3]
    if kind == "containerEnv":
        return match[0]
    if kind in {"localWorkspaceFolder", "containerWorkspaceFolder"}:
        return WORKDIR
    if kind in {"localWorkspaceFolderBasename", "containerWorkspaceFolderBasename"}:
        return posixpath.basename(WORKDIR)
    if kind in {"localEnv", "env"}:
        notices.append(
            f"{name}: ${{{kind}:{key}}} is left out; nothing of the host's environment passes"
        )
        return default or ""
    notices.append(f"{name}: {match[0]} is left out")
    return ""


def command_lines(given: Command | None) -> tuple[str, ...]:
    """Return a command in any of its three forms as lines for a shell."""
    if given is None:
        return ()
    if isinstance(given, str):
        return (given,) if given.strip() else ()
    if isinstance(given, list):
        return (shlex.join(given),) if given else ()
    return tuple(command for each in given.values() for command in command_lines(each))
