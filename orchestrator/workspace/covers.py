"""What is mounted over what a box is not to see: empty things, and files with placeholders."""

from __future__ import annotations

from pathlib import Path


def cover(folder: Path, *, is_directory: bool) -> Path:
    """Return an empty directory or file below ``folder``, made where it lacks."""
    path = folder / ("no-directory" if is_directory else "no-file")
    if is_directory:
        path.mkdir(mode=0o500, exist_ok=True)
    elif not path.exists():
        path.touch(mode=0o400)
    return path


def masked_cover(folder: Path, number: int, content: bytes) -> Path:
    """Return a file below ``folder`` with what the box sees in place of another's credentials."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"masked-{number}"
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    # Readable by the command's user, whoever that is; there is nothing secret in it.
    path.chmod(0o444)
    return path
