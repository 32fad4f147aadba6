import pytest

from orchestrator.policy.shell_lines import MAX_LINES, find_shell_lines, is_well_read


@pytest.mark.parametrize(
    ("typed", "text", "surely"),
    [
        ("!ls -l\n", "ls -l", True),
        (":!ls\n", "ls", True),
        ("\\! ls\n", "ls", True),
        (".shell ls\n", "ls", True),
        (".system ls\n", "ls", True),
        (":r !ls\n", "ls", False),
        ("x = !ls\n", "ls", False),
        ("os.execute('ls -l')\n", "ls -l", False),
        ('run("a \\"b")\n', 'a \\"b', False),
        ("one\ntwo\n", "two", False),
    ],
)
def test_lines_are_found_where_they_stand(typed, text, surely):
    """With the place they have in the input."""
    found = {(line.text, line.surely): line.start for line in find_shell_lines(typed, strings=True)}

    start = found[text, surely]
    assert typed[start : start + len(text)] == text


@pytest.mark.parametrize("typed", ["if x != 1: y()\n", "Hello!\n", "a !!! b = !=\n"])
def test_marks_that_run_nothing_are_no_lines(typed):
    """A comparison and a cry lead to no shell."""
    found = [line.text for line in find_shell_lines(typed, strings=False)]

    assert found[:2] == [typed, typed.rstrip("\n")]
    assert all(text.startswith("b") for text in found[2:])


def test_quoted_texts_are_looked_for_on_request():
    """In a language that is taken apart they are data."""
    texts = [line.text for line in find_shell_lines("x('git push')\n", strings=False)]

    assert "git push" not in texts


def test_number_of_lines_is_bounded():
    """Whoever asks for more is told by the judge."""
    assert len(list(find_shell_lines("a\n" * 5000, strings=True))) == 1 + MAX_LINES


@pytest.mark.parametrize(
    ("programs", "expected"),
    [(["bash"], True), (["cd", "python3.11"], True), (["python3", "lua"], False), ([None], False)],
)
def test_all_programs_must_be_well_read(programs, expected):
    """One that is not may be who reads."""
    assert is_well_read(programs) is expected
