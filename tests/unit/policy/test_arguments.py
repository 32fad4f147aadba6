"""Reading arguments against a rule's."""

import pytest

from orchestrator.policy.arguments import MAX_WORDS, Certainty, match_args, match_flags
from orchestrator.policy.rules import Flags
from tests.support.commands import UNREAD, split_word, word

NO, MAYBE, YES = Certainty


def _args(text, *wanted, lenient=True, takes_value=lambda _: None):
    words = [word(item) for item in text.split(" ")] if isinstance(text, str) else text
    return match_args(
        words,
        [item if isinstance(item, tuple) else (item,) for item in wanted],
        takes_value=takes_value,
        lenient=lenient,
    )


def _flags(text, *, lenient=True, **given):
    words = [word(item) for item in text.split(" ")] if isinstance(text, str) else text
    return match_flags(Flags(**given), words, lenient=lenient)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("push", ["push"]),
        ("push origin main", ["push", "origin"]),
        ("-C x push -f", ["push"]),
        ("--git-dir=.git push", ["push"]),
        ("remote -v add o u", ["remote", "add"]),
        ("send-pack", [("push", "send-pack")]),
        ("push release-1", ["push", "release-*"]),
        ("-m pytest -q", ["-m", "pytest"]),
        ("-- push", ["push"]),
    ],
)
def test_arguments_match_wherever_options_stand(text, wanted):
    """Options before and between arguments do not hide them from a strict rule."""
    assert _args(text, *wanted) is YES


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("log push", ["push"]),
        ("stash push", ["push"]),
        ("push", ["push", "origin"]),
        ("pushes", ["push"]),
        ("- push", ["push"]),
    ],
)
def test_arguments_are_matched_from_the_first_on(text, wanted):
    """A word later in the line is data, not the sub-command."""
    assert _args(text, *wanted) is NO


def test_an_allow_rule_needs_every_reading_of_an_option_to_match():
    """``-c`` may take a value; both readings must reach the sub-command."""
    assert _args("-C status", "status", lenient=False) is NO
    assert _args("-C sub status", "status", lenient=False) is NO
    assert _args("--short status", "status", lenient=False) is NO
    assert _args("status --short", "status", lenient=False) is YES
    assert _args("-m pytest", "-m", "pytest", lenient=False) is YES


def test_many_options_are_read_once_each():
    """Two readings of each option do not make a thousand of ten, nor change the answer."""
    assert _args("-a -b " * 60 + "x y push", "push") is NO
    assert _args("-a -b " * 60 + "push", "push") is YES


def test_knowledge_of_options_settles_the_reading():
    """Where it is known whether an option takes a value, there is one reading."""
    taking = {"-C": True, "-v": False}.get

    assert _args("-C sub status", "status", lenient=False, takes_value=taking) is YES
    assert _args("-v status", "status", lenient=False, takes_value=taking) is YES
    assert _args("-C push status", "push", takes_value=taking) is NO


def test_a_word_that_is_not_static_may_be_the_argument():
    """What cannot be read may match a strict rule and never an allow rule."""
    assert _args(UNREAD, "push") is MAYBE
    assert _args(f"pu{UNREAD}", "push") is MAYBE
    assert _args(f"{UNREAD} x", "push", "origin") is MAYBE
    assert _args(UNREAD, "push", lenient=False) is not YES
    assert _args([split_word(f"x{UNREAD}")], "push") is MAYBE


def test_a_word_with_a_static_part_that_rules_it_out_does_not_match():
    """``st$x`` is not ``push``."""
    assert _args(f"st{UNREAD}", "push") is NO


def test_a_glob_may_expand_to_the_argument():
    """A file called ``push`` turns ``pus?`` into the sub-command."""
    assert _args("pus?", "push") is MAYBE
    assert _args("pus?", "push", lenient=False) is not YES
    assert _args("*.c", "push") is NO


def test_a_run_of_words_too_long_to_read_is_not_settled():
    """The bound answers with doubt, not with a match or a miss."""
    assert _args("a " * MAX_WORDS + "a", "b") is MAYBE


@pytest.mark.parametrize(
    "text",
    [
        "--force",
        "-f",
        "-uf",
        "--forc",
        "--force=yes",
        "x --force",
        f"{UNREAD}",
        f"--f{UNREAD}",
        "-?",
    ],
)
def test_strict_rules_find_a_flag_in_any_spelling(text):
    """Clusters, abbreviations, glued values and what cannot be read all count."""
    assert _flags(text, any=("--force", "-f")) is not NO


@pytest.mark.parametrize(
    "text", ["--follow", "-- --force", "force", "-", f"refs/{UNREAD}", "--force-with-lease", "--"]
)
def test_other_words_are_not_the_flag(text):
    """A longer option, an operand and what follows ``--`` are something else."""
    assert _flags(text, any=("--force",)) is NO


def test_all_flags_must_be_given_for_all():
    """One of two is not enough."""
    assert _flags("-r -f", all=("-r", "-f")) is YES
    assert _flags("-rf", all=("-r", "-f")) is YES
    assert _flags("-r", all=("-r", "-f")) is NO


def test_none_is_certain_only_where_nothing_could_be_the_flag():
    """To earn an allow, even an abbreviation of the flag is in the way."""
    assert _flags("--dry", none=("--dry-run",), lenient=False) is NO
    assert _flags("-n", none=("--dry-run",), lenient=False) is YES
    assert _flags(UNREAD, none=("--dry-run",), lenient=False) is not YES


def test_none_of_a_strict_rule_needs_the_flag_itself():
    """``deny unless --dry-run`` is not lifted by something that looks like it."""
    assert _flags("--dry", none=("--dry-run",)) is YES
    assert _flags("--dry-run", none=("--dry-run",)) is NO
    assert _flags(UNREAD, none=("--dry-run",)) is MAYBE


def test_an_allow_rule_counts_only_the_exact_flag():
    """A cluster that may hold the flag does not prove it."""
    assert _flags("-fn", any=("-n",), lenient=False) is NO
    assert _flags("-n", any=("-n",), lenient=False) is YES
