"""Reading a project's own policy from the host's tree, once, without following a link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from orchestrator.errors import PolicyError
from orchestrator.policy.load import ProjectText
from orchestrator.policy.yaml_nodes import MAX_BYTES

FOLDER = ".glovebox"
NAME = "policy.yaml"
WHAT = f"{FOLDER}/{NAME}"


def project_roots(directory: Path) -> Iterator[Path]:
    """Yield the directory, and those above it up to the one that holds ``.git``, if any does."""
    above = (directory, *directory.parents)
    for count, path in enumerate(above, 1):
        if os.path.lexists(path / ".git"):
            yield from above[:count]
            return
    yield directory


def read_project_policy(root: Path) -> ProjectText | None:
    """Return a directory's own policy, None where it has none; no link is followed."""
    folder = root / FOLDER
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as err:
        if err.errno == errno.ENOTDIR and not folder.is_symlink():
            return None
        raise _refused(folder, err) from err
    try:
        data = _read(folder / NAME, opened)
        if data is None and (folder / "policy.yml").exists():
            raise PolicyError(
                f"{folder}/policy.yml:1: this name is not read; expected {NAME}",
                hint=f"rename it to {WHAT}, or take it away",
            )
    finally:
        os.close(opened)
    return None if data is None else ProjectText(str(folder / NAME), data)


def _read(path: Path, folder: int) -> bytes | None:
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(path.name, flags, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as err:
        raise _refused(path, err) from err
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise PolicyError(
                f"{path}:1: expected a regular file, got something else",
                hint="put the policy itself there, or take it away",
            )
        with os.fdopen(file, "rb", closefd=False) as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as err:
        raise _refused(path, err) from err
    finally:
        os.close(file)
    if len(data) > MAX_BYTES:
        raise PolicyError(
            f"{path}:1: file is too large: more than {MAX_BYTES} bytes",
            hint="a policy is read by people; make it shorter",
        )
    return data


def _refused(path: Path, err: OSError) -> PolicyError:
    if err.errno in {errno.ELOOP, errno.ENOTDIR}:
        return PolicyError(
            f"{path}: expected no symbolic link: a project's policy is a file of its own",
            hint="put the policy itself there, or take it away",
        )
    return PolicyError(
        f"{path}: cannot be read: {err.strerror}",
        hint="a layer that cannot be read is not left out; mend its mode or take it away",
    )
