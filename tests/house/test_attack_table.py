"""The table of known attacks says the truth: every row has tests that exist, or a reason."""

import ast

import yaml

ROWS = 39


def test_every_row_is_tested_or_says_why_not(root):
    """No row is missing, and a name that is not a test is a lie."""
    table = yaml.safe_load((root / "tests" / "attack" / "table.yaml").read_text())

    assert [row["row"] for row in table] == list(range(1, ROWS + 1))
    for row in table:
        assert row.get("tests") or row.get("reason"), row["technique"]
        for name in [*row.get("tests", ()), *row.get("controls", ())]:
            path, _, test = name.partition("::")
            tree = ast.parse((root / path).read_text())
            functions = {
                node.name
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            }
            assert test in functions, name
