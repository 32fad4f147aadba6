import pytest

from orchestrator.cli.terminal_io import tell_end
from orchestrator.schema.stream import StreamEnd


@pytest.mark.parametrize(
    ("left", "end", "code", "words"),
    [
        ("ended", StreamEnd(exit_code=0), 0, ""),
        ("ended", StreamEnd(exit_code=3), 0, "exit code 3"),
        ("ended", StreamEnd(signal=9), 0, "signal 9"),
        ("ended", StreamEnd(reason="disk\x1b[2J"), 0, "disk\\x1b[2J"),
        ("detached", StreamEnd(reason="cancelled"), 0, "you left"),
        ("signal", StreamEnd(reason="cancelled"), 143, ""),
        ("gone", StreamEnd(reason="cancelled"), 1, ""),
    ],
)
def test_end_is_told_in_words(left, end, code, words, capsys):
    """What the box says of it is escaped."""
    assert tell_end(left, end) == code
    told = capsys.readouterr().err

    assert words in told
    assert bool(told) == bool(words)
