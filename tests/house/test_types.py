"""`make check` holds everything that ships to strict types, the box's side too."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_types_of_everything_that_ships_are_checked():
    """A file that mypy is not told of may say anything."""
    dry = subprocess.run(
        ["make", "-n", "-o", "setup", "types"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    words = [word for line in dry.stdout.splitlines() if "/mypy" in line for word in line.split()]
    told = {path for word in words for path in ROOT.glob(word) if not word.startswith("/")}
    shipped = set((ROOT / "sandbox-image").rglob("*.py"))

    missed = {path for path in shipped if not told & {path, *path.parents}}
    assert len(shipped) > 50
    assert missed == set()
