import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCKS = ("requirements.lock", "requirements-local.lock")


def entries(text: str) -> dict[str, tuple[str, int]]:
    """Return name to version and number of hashes."""
    blocks = re.split(r"\n(?=[A-Za-z0-9])", "\n" + text)
    found = {}
    for block in blocks:
        pin = re.match(r"\n*([A-Za-z0-9._-]+)==(\S+)", block)
        if pin:
            found[canonicalize_name(pin[1])] = (pin[2], block.count("--hash=sha256:"))
    return found


@pytest.fixture(params=LOCKS)
def lock(request, root: Path) -> str:
    return (root / request.param).read_text()


def test_every_pin_has_hashes(lock):
    """Each package is pinned to one version whose files are named by hash."""
    requirements = [line for line in lock.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    found = entries(lock)

    assert len(found) == len(requirements) > 0
    assert [name for name, (_, hashes) in found.items() if hashes == 0] == []


def test_lock_names_no_address(lock):
    """Where files come from is the installing machine's own setting."""
    assert re.findall(r"(?m)^\s*-{1,2}(?!hash)[a-z].*|\S*://\S*|^.* @ .*", lock) == []


@pytest.mark.parametrize(
    ("lock_name", "extra"),
    [
        ("requirements.lock", None),
        ("requirements.lock", "dev"),
        ("requirements-local.lock", "local"),
    ],
)
def test_lock_fits_the_declared_dependencies(root, lock_name, extra):
    """What pyproject asks for is pinned, at a version that pyproject allows."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    declared = project["optional-dependencies"][extra] if extra else project["dependencies"]
    pinned = entries((root / lock_name).read_text())
    wrong = []
    for text in declared:
        wanted = Requirement(text)
        version, _ = pinned.get(canonicalize_name(wanted.name), ("", 0))
        if not version or not wanted.specifier.contains(version, prereleases=True):
            wrong.append(f"{text}: locked {version or 'nothing'}")

    assert wrong == []
