"""What a call amounts to, however it is written."""

import pytest

from orchestrator.schema.likeness import Act, Line, Pattern, repeats

RM = Act("destructive", "rm", frozenset({"-r"}), ("/w/build",))


def test_call_repeats_what_it_still_does_all_of():
    """More on top changes nothing; less, or other, is a change."""
    more = Act("destructive", "rm", frozenset({"-r", "-v"}), ("/w/build",))
    less = Act("destructive", "rm", frozenset(), ("/w/build",))
    other = Act("destructive", "rm", frozenset({"-r"}), ("/w/dist",))

    assert repeats([RM], [RM])
    assert repeats([other, more], [RM])
    assert not repeats([less], [RM])
    assert not repeats([other], [RM])
    assert not repeats([RM], [RM, other])


def test_further_operands_are_more_of_the_same_only_beside_the_first():
    """What names nothing hits something of its own choice, and a name makes that another."""
    bare = Act("publishes", "git push")
    two = Act("destructive", "rm", frozenset({"-r"}), ("/w/x", "/w/build"))

    assert repeats([two], [RM])
    assert not repeats([RM], [two])
    assert repeats([bare], [bare])
    assert not repeats([Act("publishes", "git push", operands=("origin",))], [bare])


def test_nothing_known_repeats_nothing():
    """What was denied for reasons unseen is compared by its digest alone."""
    assert not repeats([RM], [])
    assert not repeats([], [])


@pytest.mark.parametrize(
    ("word", "covered"),
    [
        ("topic", True),
        ("v1.2", True),
        ("feature/x_1", True),
        ("user@host", True),
        ("", False),
        ("-f", False),
        ("--all", False),
        ("../x", False),
        ("a/../b", False),
        ("/etc", False),
        ("~", False),
        ("*", False),
        ("a*", False),
        (":main", False),
        ("a:b", False),
        ("+main", False),
        ("a b", False),
        ("a\nb", False),
        ("main\n", False),
        ("$x", False),
        (".git", False),
        ("m\u0430in", False),
    ],
)
def test_free_place_takes_one_plain_word(word, covered):
    """No option, no glob, nothing that leads elsewhere."""
    pattern = Pattern(("git", "push", "origin", None), "/w")

    assert pattern.covers(Line(("git", "push", "origin", word), "/w")) is covered


def test_pattern_covers_its_own_length_words_and_place():
    """Everything but the free place is as it was."""
    pattern = Pattern(("git", "push", None), "/w")

    assert pattern.text == "git push <one word>"
    assert Pattern(("git", "<one word>", None), "/w").text == "git '<one word>' <one word>"
    assert not pattern.covers(Line(("git", "push", "a", "b"), "/w"))
    assert not pattern.covers(Line(("git", "pull", "a"), "/w"))
    assert not pattern.covers(Line(("git", "push", "a"), "/w/sub"))
