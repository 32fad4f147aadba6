"""What is mounted over what a box is not to see: empty things, and files with placeholders."""

from __future__ import annotations

from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.schema.mount import Mount


def cover(folder: Path, *, is_directory: bool) -> Path:
    """Return an empty directory or file below ``folder``, made where it lacks."""
    path = folder / ("no-directory" if is_directory else "no-file")
    if is_directory:
        path.mkdir(mode=0o500, exist_ok=True)
    elif not path.exists():
        path.touch(mode=0o400)
    return path


def cover_mount(source: Path | str, target: str, path: str, *, read_only: bool = True) -> Mount:
    """Return a mount over ``path`` of a directory that the box has at ``target``.

    Raises WorkspaceError for a name that is no UTF-8: the engine would mount it over another.
    """
    try:
        path.encode()
    except UnicodeEncodeError as err:
        raise WorkspaceError(
            f"{path!r}: its name is no UTF-8, so the engine cannot hold or cover it",
            hint="rename it, or leave it out of the directories that the box sees live",
        ) from err
    return Mount("bind", str(source), f"{target}/{path}", read_only=read_only)


def masked_cover(folder: Path, number: int, content: bytes) -> Path:
    """Return a file below ``folder`` with what the box sees in place of another's credentials."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"masked-{number}"
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    # Readable by the command's user, whoever that is; there is nothing secret in it.
    path.chmod(0o444)
    return path
