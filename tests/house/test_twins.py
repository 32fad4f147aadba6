from pathlib import Path

EXCUSED = {
    "orchestrator/cli/main.py": "three lines that end-to-end tests run each time",
    "orchestrator/errors.py": "classes without behaviour; their exit codes are tested from the cli",
    "orchestrator/schema/decision.py": "frozen data",
    "orchestrator/schema/message.py": "frozen data",
    "orchestrator/schema/outcome.py": "frozen data",
    "orchestrator/schema/posture.py": "frozen data",
    "orchestrator/schema/request.py": "frozen data",
    "orchestrator/sandbox/driver.py": "a Protocol; tests/contract holds its drivers to it",
    "orchestrator/model/client.py": "a Protocol; tests/contract holds its clients to it",
    "orchestrator/tools/tool.py": "a Protocol",
}
"""Sources without a test of their own, each with the reason; shorten it, never grow it lightly."""


def has_code(path: Path) -> bool:
    return path.name != "__init__.py"


def twin_of(source: Path, root: Path) -> Path:
    """orchestrator/x/y.py -> tests/unit/x/test_y.py; the tool server's under tests/unit/toolserver."""
    inside = source.relative_to(root)
    parts = inside.parts[1:-1]
    return root.joinpath("tests", "unit", *parts, f"test_{source.stem.strip('_')}.py")


def test_every_source_has_its_test(sources, root):
    """Who looks for a module's tests finds them under its own name."""
    orphans = [
        str(path.relative_to(root))
        for path in sources
        if has_code(path)
        and str(path.relative_to(root)) not in EXCUSED
        and not twin_of(path, root).exists()
    ]

    assert orphans == []


def test_excuses_are_still_needed(root):
    """An excuse goes when its file goes or gets its test."""
    stale = [
        name
        for name in EXCUSED
        if not (root / name).exists() or twin_of(root / name, root).exists()
    ]

    assert stale == []


def test_every_test_has_its_source(tracked, sources, root):
    """A test whose module was renamed moves along."""
    twins = {twin_of(path, root) for path in sources}
    strays = [
        str(path.relative_to(root))
        for path in tracked
        if root / "tests" / "unit" in path.parents
        and path.name.startswith("test_")
        and path not in twins
    ]

    assert strays == []
