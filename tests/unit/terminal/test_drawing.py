import pytest
from pyte.screens import Char, StaticDefaultDict

from orchestrator.terminal.drawing import draw_line


def line(*cells):
    made = StaticDefaultDict(Char(" "))
    made.update(enumerate(cells))
    return made


def test_blank_line_is_only_cleared():
    """Nothing is drawn where nothing is."""
    assert draw_line(line(), 80) == "\x1b[0m\x1b[K"


@pytest.mark.parametrize(
    ("style", "codes"),
    [
        ({"fg": "red"}, "31"),
        ({"bg": "brightblue"}, "104"),
        ({"bg": "bfightmagenta"}, "105"),
        ({"fg": "00005f"}, "38;5;17"),
        ({"bg": "010203"}, "48;2;1;2;3"),
        ({"bold": True, "reverse": True, "underscore": True}, "1;4;7"),
    ],
)
def test_style_is_written_by_us(style, codes):
    """From names and numbers, never from text."""
    assert draw_line(line(Char("x", **style)), 80) == f"\x1b[0m\x1b[0m\x1b[{codes}mx\x1b[0m\x1b[K"


@pytest.mark.parametrize("name", ["31m\x1b]0;x\x07", "0102zz", "", "nonsense"])
def test_colour_of_no_known_name_is_none(name):
    """Whatever stands in a cell."""
    assert draw_line(line(Char("x", fg=name)), 80) == "\x1b[0mx\x1b[K"


@pytest.mark.parametrize("char", ["\x1b", "\u202e", "\x9b", "\n", "a\u200d"])
def test_character_that_could_mislead_is_not_drawn(char):
    """Nothing like it comes out of the emulator; if it did, it would stop here."""
    assert draw_line(line(Char(char)), 80).startswith("\x1b[0m\ufffd")


def test_place_is_said_after_a_character_of_doubtful_width():
    """What follows stands where it belongs, on any terminal."""
    cells = line(Char("漢"), Char(""), Char("x"), Char("e\u0301"), Char("y"))

    assert draw_line(cells, 80) == "\x1b[0m漢\x1b[3Gxe\u0301\x1b[5Gy\x1b[K"


def test_coloured_blanks_are_drawn():
    """A bar across the screen is one."""
    assert draw_line(line(Char(" ", bg="red")), 80) == "\x1b[0m\x1b[0m\x1b[41m \x1b[0m\x1b[K"
