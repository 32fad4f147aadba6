"""What the rules of the house are checked on: this checkout, as git sees it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def tracked() -> list[Path]:
    """Every file that is or would be committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def is_package(folder: Path) -> bool:
    """Data files may be Python too; a source stands in packages all the way up."""
    return folder == ROOT or ((folder / "__init__.py").exists() and is_package(folder.parent))


@pytest.fixture(scope="session")
def sources(tracked: list[Path]) -> list[Path]:
    """The Python files of the package and of the image's tool server."""
    server = ROOT / "sandbox-image"
    return [
        path
        for path in tracked
        if path.suffix == ".py"
        and (server in path.parents or (path.parent != ROOT and is_package(path.parent)))
    ]
