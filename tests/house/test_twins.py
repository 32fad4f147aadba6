import ast
from pathlib import Path

import pytest

EXCUSED: dict[str, str] = {}
"""Sources that no unit test of their package names, each with the reason."""


def has_behaviour(source: Path) -> bool:
    """Say whether there is anything to test: plain data and Protocols do nothing by themselves."""
    tree = ast.parse(source.read_text())
    return any(
        not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in node.body
    )


def home_of(source: Path, root: Path) -> Path:
    """orchestrator/x/y.py -> tests/unit/x; the image's tool server -> tests/unit/toolserver."""
    return root.joinpath("tests", "unit", *source.relative_to(root).parts[1:-1])


def twin_of(source: Path, root: Path) -> Path:
    return home_of(source, root) / f"test_{source.stem.strip('_')}.py"


def module_of(source: Path, root: Path) -> str:
    parts = source.relative_to(root).with_suffix("").parts
    # The tool server's modules are imported by their bare names, as in the box.
    return ".".join(parts) if parts[0] == "orchestrator" else parts[-1]


def imported(path: Path) -> set[str]:
    """Every module a test imports by name, and `package.name` for each name taken from a package."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.fixture(scope="module")
def modules(sources, root) -> dict[Path, str]:
    return {path: module_of(path, root) for path in sources if path.name != "__init__.py"}


@pytest.fixture(scope="module")
def tests_by_home(tracked, root) -> dict[Path, dict[Path, set[str]]]:
    """Folder of tests/unit to its test files and what each imports."""
    found: dict[Path, dict[Path, set[str]]] = {}
    for path in tracked:
        if root / "tests" / "unit" in path.parents and path.name.startswith("test_"):
            found.setdefault(path.parent, {})[path] = imported(path)
    return found


def is_tested(source: Path, name: str, homes: dict[Path, dict[Path, set[str]]], root: Path) -> bool:
    """Say whether a source has its twin, or a test in the twin's folder that imports it itself."""
    home = home_of(source, root)
    return twin_of(source, root).exists() or any(
        name in names for folder in (home, home.parent) for names in homes.get(folder, {}).values()
    )


def test_every_source_has_its_test(modules, tests_by_home, root):
    """Who looks for a module's tests finds them in the place of the same name."""
    orphans = [
        str(path.relative_to(root))
        for path, name in modules.items()
        if str(path.relative_to(root)) not in EXCUSED
        and has_behaviour(path)
        and not is_tested(path, name, tests_by_home, root)
    ]

    assert orphans == []


def test_excuses_are_still_needed(modules, tests_by_home, root):
    """An excuse goes when its file goes or gets its test."""
    stale = [
        name
        for name in EXCUSED
        if root / name not in modules
        or is_tested(root / name, modules[root / name], tests_by_home, root)
    ]

    assert stale == []


def test_every_test_has_its_source(modules, tests_by_home, root):
    """A test whose module was renamed or moved goes along."""
    twins = {twin_of(path, root) for path in modules}
    strays = [
        str(path.relative_to(root))
        for home, files in tests_by_home.items()
        for path, names in files.items()
        if path not in twins
        and not any(
            home_of(source, root) == home and modules[source] in names for source in modules
        )
    ]

    assert strays == []
