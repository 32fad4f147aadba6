from pyte.streams import Stream

from orchestrator.terminal.screen import EmulatedScreen


def screen(text, columns=6, lines=3):
    made = EmulatedScreen(columns, lines)
    Stream(made, strict=False).feed(text)
    return made


def rows(made):
    return ["".join(made.buffer[y][x].data for x in range(made.columns)) for y in range(made.lines)]


def test_wide_character_does_not_fit_into_the_last_column():
    """It wraps as a whole."""
    assert rows(screen("abcde漢"))[:2] == ["abcde ", "漢    "]


def test_half_of_a_wide_character_is_none():
    """Overwriting either half blanks the other."""
    assert rows(screen("漢\rx"))[0] == "x     "
    assert rows(screen("漢\x1b[2Gx"))[0] == " x    "


def test_one_column_holds_a_wide_character_without_falling():
    """A screen may be as narrow as that."""
    assert screen("漢字", columns=1).cursor.x <= 1


def test_lines_scroll_into_history_only_from_the_top_of_the_whole():
    """A region's lines are the program's own business."""
    assert screen("1\r\n2\r\n3\r\n4").scrolled_count == 1
    assert screen("\x1b[2;3r\x1b[3;1H\n\n").scrolled_count == 0


def test_shorter_screen_keeps_the_cursors_line():
    """Empty rows below go first, then the top."""
    made = screen("1\r\n2\r\n3", lines=5)
    made.resize(3, 6)
    assert (rows(made), made.scrolled_count) == (["1     ", "2     ", "3     "], 0)

    made.resize(2, 6)
    assert (rows(made), made.scrolled_count, made.cursor.y) == (["2     ", "3     "], 1, 1)


def test_saved_positions_do_not_pile_up():
    """One is kept, and stays kept."""
    made = screen("\x1b7" * 1000 + "abc\x1b8\x1b8x")

    assert len(made.savepoints) == 1
    assert rows(made)[0] == "xbc   "


def test_reset_comes_back_from_the_other_screen():
    """With nothing left of either."""
    made = screen("first\x1b[?1049hother\x1bc")

    assert (made.on_other_screen, rows(made)[0].strip()) == (False, "")


def test_one_cell_is_bounded():
    """Marks pile up only so far."""
    assert len(screen("e" + "\u0316" * 100).buffer[0][0].data) <= 8
