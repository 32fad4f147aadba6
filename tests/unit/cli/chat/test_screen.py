"""What stays, what grows and what is typed, on a pseudo-terminal."""

from orchestrator.cli.chat.screen import INPUT_ROWS, MARK


def test_growing_line_takes_half_of_the_rows_at_most(sit):
    """Its end is what is shown; once it is whole, all of it is in the scrollback."""

    async def scene(seat):
        screen = seat.surface._screen
        screen.grow("x" * 60 * 40 + "the end")
        await seat.until("the end")
        assert seat.text().count("xxx") <= 20 * 8
        assert len([row for row in seat.screen.display if row.strip()]) <= 11
        screen.put("x" * 60 * 40 + "the end\n")
        screen.grow("")
        await seat.look(0.2)
        assert seat.text().count("x") == 60 * 40

    sit(scene)


def test_long_input_scrolls_within_its_rows(sit):
    async def scene(seat):
        seat.type("\n".join(f"row {number}" for number in range(30)))
        await seat.until("row 29")
        rows = [row for row in seat.screen.display if row.startswith(("row", "» row", "  row"))]
        assert len(rows) <= INPUT_ROWS

    sit(scene)


def test_what_would_reorder_the_line_is_marked(sit):
    """And said as it was typed."""

    async def scene(seat):
        seat.type("a\u202eb")
        await seat.until(f"a{MARK}b")
        seat.type("\r")
        assert (await seat.said()).text == "a\u202eb"

    sit(scene)


def test_lines_before_the_beginning_and_after_the_end_are_shown(sit):
    async def scene(seat):
        seat.surface.note("in between")

    seat = sit(scene)
    seat.surface.note("after")
    seat.surface._screen.put("last\n")

    assert "in between" in seat.text()
