from orchestrator.schema.stream import MOST_CELLS, TerminalSize


def test_size_is_brought_into_bounds():
    """A terminal that says nonsense, as one without a window does, still gets a screen."""
    assert TerminalSize(0, 0).bounded() == TerminalSize(1, 1)
    assert TerminalSize(10_000, 40).bounded() == TerminalSize(MOST_CELLS, 40)
