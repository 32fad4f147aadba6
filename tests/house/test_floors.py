import ast
import subprocess
import sys
from pathlib import Path


def test_imports_only_go_down(root: Path):
    """Every contract of pyproject holds."""
    result = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


def test_own_modules_are_imported_at_the_top(sources, root):
    """An import inside a function hides an edge; the command line's lazy loading is the exception."""
    hidden = [
        f"{path}:{inner.lineno}"
        for path in sources
        if root / "orchestrator" / "cli" not in path.parents
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.ImportFrom) and (inner.module or "").startswith("orchestrator")
    ]

    assert hidden == []


def test_importing_is_quiet(root: Path, sources, tmp_path: Path):
    """Importing every module prints nothing and makes no file."""
    names = [
        ".".join(path.relative_to(root).with_suffix("").parts)
        for path in sources
        if root / "orchestrator" in path.parents and path.stem not in {"__init__", "__main__"}
    ]
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(f"import {name}" for name in names)],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []
