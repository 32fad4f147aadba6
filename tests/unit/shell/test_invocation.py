"""Arguments as programs read them."""

import pytest

from orchestrator.shell.analysis import Word
from orchestrator.shell.invocation import read_arguments
from orchestrator.shell.knowledge import Spec


def words(line):
    return [Word(text, text, (0, 0), shape=text) for text in line.split()]


def read(line, **entry):
    use = read_arguments(words(line), Spec.model_validate(entry))
    options = [(item.name, item.value.shape if item.value else None) for item in use.options]
    return options, [word.shape for word in use.operands], [word.shape for word in use.tail]


@pytest.mark.parametrize(
    ("line", "options", "operands"),
    [
        ("-ab c", [("-a", None), ("-b", None)], ["c"]),
        ("-o x c", [("-o", "x")], ["c"]),
        ("-ox c", [("-o", "x")], ["c"]),
        ("-aox c", [("-a", None), ("-o", "x")], ["c"]),
        ("--out x c", [("--out", "x")], ["c"]),
        ("--out=x c", [("--out", "x")], ["c"]),
        ("c -a d", [("-a", None)], ["c", "d"]),
        ("-- -a", [], ["-a"]),
        ("- c", [], ["-", "c"]),
        ("-i c", [("-i", None)], ["c"]),
        ("-ibak c", [("-i", "bak")], ["c"]),
    ],
)
def test_options_and_operands_are_told_apart(line, options, operands):
    """Values glued, apart, clustered; operands anywhere."""
    found = read(line, values="-o --out", glued="-i")
    assert found[:2] == (options, operands)


def test_abbreviated_risky_option_counts_as_the_whole():
    """GNU programs take any unambiguous beginning."""
    rules = [{"risk": "destructive", "any": ["--force"], "reason": "x"}]
    assert read("--forc", rules=rules)[0] == [("--force", None)]


def test_abbreviation_never_swallows_the_next_word():
    """``--up x`` may be a flag: x stays an operand unless the option matters."""
    assert read("--up x", values="--upper")[1] == ["x"]


def test_single_dash_options_are_whole_words_where_the_program_says_so():
    """find's ``-name`` is no cluster."""
    assert read("-name x .", style="single", values="-name")[:2] == ([("-name", "x")], ["."])


def test_wrapper_takes_the_rest_from_its_first_free_operand():
    """Options of the inner command are not the wrapper's."""
    entry = {"values": "-k", "wraps": {"skip": 1}}
    assert read("-k 5 10 rm -rf x", **entry) == ([("-k", "5")], ["10"], ["rm", "-rf", "x"])


def test_old_tar_style_takes_values_in_order():
    """``tar xfC a b`` gives a to f and b to C."""
    found = read("xfC a b", style="bundle", roles={"-f": "data", "-C": "dir"})
    assert found[0] == [("-x", None), ("-f", "a"), ("-C", "b")]


def test_pairs_are_options_with_values():
    """dd's operands name themselves."""
    assert read("if=a of=b", style="pairs", roles={"of": "write"})[0] == [("if", "a"), ("of", "b")]


def test_sub_command_that_is_not_static_is_remembered():
    """Nobody can say what ``git $x`` does."""
    spec = Spec.model_validate({"subs": {"push": {}}})
    use = read_arguments([Word(None, "$x", (0, 2), shape="\ufffc")], spec)
    assert use.unread_sub is not None
