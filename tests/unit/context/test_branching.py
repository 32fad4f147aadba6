"""What happened on a branch that is left."""

from functools import partial

import anyio

from orchestrator.context.branching import MOST_WORDS, left_behind, summarise_branch
from orchestrator.context.summarising import Summariser
from tests.support.contexts import Sums, answer, render, result, say


def summarise(store, target, sums, focus=""):
    work = partial(
        summarise_branch,
        store.tree,
        target,
        Summariser(sums, render),
        scrub=lambda text: text.replace("SECRET", "[key]"),
        focus=focus,
    )
    return anyio.run(work)


def test_only_what_the_other_way_has_not_is_summarised(store):
    say(store, "shared")
    fork = answer(store, "here")
    say(store, "the wrong way")
    answer(store, "", "c1", path="a.py", name="edit")
    result(store, "c1", "long output")
    last = answer(store, "no good, SECRET")
    sums = Sums("it failed, SECRET")
    made = summarise(store, fork, sums)

    assert "the wrong way" in sums.text()
    assert "shared" not in sums.text()
    assert "long output" not in sums.text()
    assert made.body["summary"].startswith("it failed, [key]")
    assert "<modified-files>\na.py" in made.body["summary"]
    assert made.body["from"] == last


def test_what_the_person_wants_kept_is_asked_for_and_stored(store):
    say(store, "the wrong way")
    sums = Sums()
    made = summarise(store, None, sums, focus="the failing test")

    assert "branch-summary {'focus': 'the failing test'}" in sums.text()
    assert made.body["focus"] == "the failing test"


def test_leaving_nothing_needs_no_summary(store):
    say(store, "a")
    here = answer(store, "b")
    sums = Sums()

    assert summarise(store, here, sums) is None
    assert sums.asked == []


def test_beginning_anew_leaves_everything(store):
    said = say(store, "a")

    assert [entry.id for entry in left_behind(store.tree, None)] == [said]


def test_words_count_whatever_parts_them(store):
    say(store, "a")
    made = summarise(store, None, Sums("\t".join(["word"] * 300)))

    assert len(made.body["summary"].split()) == MOST_WORDS < 200


def test_summary_stays_short_whatever_the_model_writes(store):
    say(store, "a")
    made = summarise(store, None, Sums("first line\n" + "word " * 1_000))

    words = made.body["summary"].split()
    assert len(words) == MOST_WORDS < 200
    assert made.body["summary"].startswith("first line\nword")
