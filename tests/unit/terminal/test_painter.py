import pyte
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.schema.stream import TerminalSize
from orchestrator.terminal.emulator import Emulator
from orchestrator.terminal.painter import Painter


class Glass:
    """Another make's terminal, which shows what the painter wrote."""

    def __init__(self, columns, rows):
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.5)
        self.stream = pyte.Stream(self.screen, strict=False)

    def show(self, text):
        # It knows no synchronised frames, which the line discipline's \r\n passes through too.
        self.stream.feed(text.replace("\n", "\r\n"))

    def rows(self):
        return [line.rstrip() for line in self.screen.display]

    def history(self):
        width = self.screen.columns
        return [
            "".join(line[x].data for x in range(width)).rstrip() for line in self.screen.history.top
        ]


WORDS = st.lists(
    st.sampled_from(
        [
            "one",
            "two three",
            "\r\n",
            "\n",
            "\x1b[31m",
            "\x1b[0m",
            "\x1b[H",
            "\x1b[2J",
            "\x1b[5;3H",
            "\x1b[K",
            "\x1bM",
            "\x1b[L",
            "\x1b[M",
            "\x1b[?1049h",
            "\x1b[?1049l",
            "x" * 30,
            "\t",
        ]
    ),
    max_size=30,
)


@settings(deadline=None)
@given(frames=st.lists(WORDS, max_size=8))
def test_screen_shows_what_the_emulator_holds(frames):
    """However the changes are spread over frames."""
    size = TerminalSize(20, 6)
    emulator, painter, glass = Emulator(size), Painter(size), Glass(20, 6)
    glass.show(painter.enter())
    for words in frames:
        emulator.feed("".join(words).encode())
        glass.show(painter.frame(emulator))
        assert glass.rows() == emulator.text()
        place = emulator.cursor
        assert (glass.screen.cursor.x, glass.screen.cursor.y) == (place.column, place.row)


def test_scrolled_lines_are_in_the_screens_own_history():
    """A person scrolls back with their own terminal."""
    size = TerminalSize(20, 4)
    emulator, painter, glass = Emulator(size), Painter(size), Glass(20, 4)
    glass.show(painter.enter())
    glass.screen.history.top.clear()
    for start in range(0, 60, 20):
        lines = "".join(f"line {n}\r\n" for n in range(start, start + 20))
        emulator.feed(lines.encode())
        glass.show(painter.frame(emulator))

    assert glass.history() == [f"line {n}" for n in range(57)]
    assert glass.rows()[:3] == ["line 57", "line 58", "line 59"]


def test_lines_that_went_by_too_fast_are_said_to_have():
    """Rather than left out in silence."""
    size = TerminalSize(40, 4)
    emulator, painter, glass = Emulator(size), Painter(size), Glass(40, 4)
    glass.show(painter.enter())
    emulator.feed(b"x\r\n" * 5000)
    glass.show(painter.frame(emulator))

    assert any("lines went by" in line for line in glass.history())


def test_unchanged_rows_are_not_drawn_again():
    """A key costs one row, not a screen."""
    size = TerminalSize(80, 24)
    emulator, painter = Emulator(size), Painter(size)
    emulator.feed(b"\r\n".join(b"row %d" % n for n in range(24)))
    painter.frame(emulator)
    emulator.feed(b"\x1b[5;1Hx")
    frame = painter.frame(emulator)

    assert "row 4" not in frame
    assert "xow 4" in frame
    assert len(frame) < 100


def test_everything_is_drawn_after_forgetting():
    """Nobody knows what a screen shows whose size changed, or whose frame was cut."""
    size = TerminalSize(20, 2)
    emulator, painter = Emulator(size), Painter(size)
    emulator.feed(b"one")
    painter.frame(emulator)
    painter.forget()

    assert "one" in painter.frame(emulator)
