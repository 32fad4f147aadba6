"""Where the data files that ship with the package are: policies and the image's sources."""

from __future__ import annotations

from pathlib import Path


def asset(name: str) -> Path:
    """Return the folder ``policies`` or ``sandbox-image``, from the wheel or the checkout."""
    package = Path(__file__).resolve().parent.parent
    packed = package / "assets" / name
    return packed if packed.exists() else package.parent / name
