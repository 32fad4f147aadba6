"""Arguments found at run time that the command shows."""

from orchestrator.shell.analyse import analyse


def _writes(command: str) -> set[str]:
    return {path for path, _ in analyse(command).writes}


def test_a_known_input_becomes_arguments():
    """Appended, or put in place of a mark."""
    assert _writes("echo a b | xargs touch") >= {"/workspace/a", "/workspace/b"}
    assert _writes("echo a | xargs -I% touch %/c") >= {"/workspace/a/c"}


def test_find_fills_in_the_names_it_looks_for():
    """Not where it leaves them out."""
    found = analyse(r"find . -name .git -exec touch {}/config \;").findings
    assert {finding.risk for finding in found} == {"persistence"}
    assert analyse(r"find . ! -name .git -exec touch {} \;").findings == ()
