"""What is told the model, kept up to date: always the same as read from scratch."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.context.sizes import fixed_tokens
from orchestrator.context.speech import Speech
from orchestrator.context.view import FIXED, View
from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import (
    AssistantMessage,
    Text,
    ToolDefinition,
    ToolMessage,
    Usage,
    UserMessage,
)
from orchestrator.sessions.entry import Entry, SessionHeader
from orchestrator.sessions.store import SessionStore
from orchestrator.sessions.tree import EntryTree
from tests.support.contexts import SPEECH, answer, info_of, result, say, show

INFO = info_of()
MORE = Speech("be good " * 100, ())

CALLS = st.sampled_from(["a", "b", "c"])
STEPS = st.one_of(
    st.tuples(st.just("say"), st.just("")),
    st.tuples(st.just("answer"), st.lists(CALLS, max_size=2)),
    st.tuples(st.just("result"), CALLS),
    st.tuples(st.just("jump"), st.integers(0, 30)),
    st.tuples(st.just("compact"), st.integers(0, 30)),
    st.tuples(st.just("edit"), st.integers(0, 30)),
    st.tuples(st.just("look"), st.just("")),
)


def apply(store, step):
    """Take one step in the session."""
    kind, what = step
    entries = store.tree.entries
    if kind == "say":
        say(store, f"said {len(entries)}")
    elif kind == "answer":
        answer(store, "words", *what, usage=len(entries) % 3)
    elif kind == "result":
        result(store, what, f"out {len(entries)}")
    elif entries and kind == "jump":
        store.append("leaf", {"target": entries[what % len(entries)].id})
    elif entries and kind == "compact":
        store.append("compaction", {"summary": "s", "first_kept": entries[what % len(entries)].id})
    elif entries and kind == "edit":
        target = entries[what % len(entries)]
        short = encode_message(UserMessage((Text("short"),)))
        store.append(
            "context_edit", {"target": target.id, "replacement": short if what % 2 else None}
        )


@settings(max_examples=200, deadline=None)
@given(st.lists(STEPS, max_size=40))
def test_view_is_what_the_whole_path_gives(tmp_path_factory, steps):
    """Whatever was added, moved, compacted or edited between two looks."""
    path = tmp_path_factory.mktemp("view") / "s.jsonl"
    with SessionStore.create(path, SessionHeader("0123456789ab", "/p", "")) as store:
        view = View(store.tree)
        for step in steps:
            apply(store, step)
            if step[0] == "look":
                assert view.messages() == store.messages()
        assert view.messages() == store.messages()
        assert view.tokens(SPEECH, INFO) == View(store.tree).tokens(SPEECH, INFO)
        answers = [
            e for e in store.tree.path() if e.type == "message" and e.body["role"] == "assistant"
        ]
        assert view.answers == len(answers)


def test_second_result_of_an_id_is_of_the_older_call(store):
    """Both calls had that id and wait; the older is not told as interrupted."""
    for _ in range(2):
        answer(store, "", "b")
    result(store, "b", "newer")
    result(store, "b", "older")
    told = View(store.tree).messages()

    assert [told[n].results[0].output for n in (1, 3)] == ["older", "newer"]


def test_reported_usage_counts_for_all_before_it(store):
    """Only what came after the last answer is estimated."""
    say(store, "x" * 4000)
    answer(store, "ok", usage=123)
    say(store, "y" * 400)

    assert View(store.tree).tokens(SPEECH, INFO) == 123 + 100 + 4


def test_answer_without_usage_says_nothing(store):
    """One that was aborted, say: then all is estimated, prompt and tools too."""
    say(store, "x" * 4000)
    answer(store, "o" * 4)

    assert View(store.tree).tokens(SPEECH, INFO) == 1004 + 5 + 2


def test_estimated_usage_is_no_report(store):
    """What was reckoned for one answer is no better than what is reckoned here."""
    say(store, "x" * 4000)
    spoken = AssistantMessage((Text("o" * 4),), "end_turn", Usage(9_000, 5, estimated=9_005))
    fixed = fixed_tokens(SPEECH.system, SPEECH.tools)
    store.append("message", encode_message(replace(spoken, model="x/main")) | {FIXED: fixed})

    assert View(store.tree).tokens(SPEECH, INFO) < 2_000


def test_usage_from_before_a_compaction_is_stale(store):
    """It counted what is not told any more, and would have the next turn compact again."""
    say(store, "x" * 4000)
    kept = answer(store, "ok", usage=5000)
    store.append("compaction", {"summary": "short", "first_kept": kept})

    assert View(store.tree).tokens(SPEECH, INFO) < 100


def test_usage_of_another_prompt_is_mended_by_the_difference(store):
    """A skill was switched on since: its prompt and tools are not in what was reported."""
    say(store, "x")
    answer(store, "ok", usage=5000)
    tools = (ToolDefinition("read", "d" * 400, {}),)
    view = View(store.tree)

    assert view.tokens(SPEECH, INFO) == 5000
    assert view.tokens(MORE, INFO) == 5000 + fixed_tokens(MORE.system, ()) - 2
    assert view.tokens(replace(SPEECH, tools=tools), INFO) == 5000 + fixed_tokens("", tools)
    assert view.tokens(SPEECH, INFO) == 5000


def test_usage_of_another_model_says_nothing(store):
    """Its tokens are others; the last answer of the model that is asked counts, also an older."""
    say(store, "x" * 4000)
    answer(store, "ok", usage=5000, model="y/other")
    view = View(store.tree)
    assert view.tokens(SPEECH, INFO) == 1004 + 5 + 2

    answer(store, "o" * 4, usage=1234)
    answer(store, "o" * 4, usage=5000, model="y/other")
    say(store, "y" * 400)
    assert view.tokens(SPEECH, INFO) == 1234 + 5 + 104


def test_usage_without_what_was_sent_says_nothing(store):
    """A server that tells only its own words; or an answer whose prompt nobody knows any more."""
    say(store, "x" * 4000)
    message = AssistantMessage((Text("o" * 4),), "end_turn", Usage(output=9), "x/main")
    store.append("message", encode_message(message) | {FIXED: 2})
    view = View(store.tree)
    assert view.tokens(SPEECH, INFO) == 1004 + 5 + 2

    store.append("message", encode_message(replace(message, usage=Usage(input=9))))
    assert view.tokens(SPEECH, INFO) == 1004 + 5 + 5 + 2


def test_pictures_count_by_the_rule_of_the_model_that_is_asked(store):
    show(store, 3)
    view = View(store.tree)
    by_rule = {
        rule: view.tokens(SPEECH, info_of(pictures=rule)) for rule in ("anthropic", "openai-small")
    }

    assert by_rule["anthropic"] > 3 * 3_000
    assert by_rule["openai-small"] > 3 * 20_000
    assert view.tokens(SPEECH, info_of(images=False)) < 100


def test_usage_from_before_an_edit_counts_less_what_the_edit_saved(store):
    """The tokens of the model are denser than the reckoned ones; that stays so for the rest."""
    first = say(store, "x" * 4000)
    short = encode_message(UserMessage((Text("x" * 400),)))
    store.append("context_edit", {"target": first, "replacement": short})
    answer(store, "ok", usage=3000)
    later = say(store, "y" * 400)
    view = View(store.tree)
    assert view.tokens(SPEECH, INFO) == 3000 + 104

    shorter = encode_message(UserMessage((Text("x" * 40),)))
    store.append("context_edit", {"target": first, "replacement": shorter})
    store.append("context_edit", {"target": later, "replacement": None})
    assert view.tokens(SPEECH, INFO) == 3000 - 90

    store.append("compaction", {"summary": "s", "first_kept": later})
    assert view.tokens(SPEECH, INFO) < 100


def test_answers_that_were_summarised_are_counted(store):
    """The scripted model finds its turn by them."""
    say(store, "x")
    answer(store, "one")
    store.append("compaction", {"summary": "s", "first_kept": None})
    answer(store, "two")

    view = View(store.tree)
    assert (view.answers, len(view.messages())) == (2, 2)


def test_only_what_is_new_is_read():
    """A long session does not get slower with every turn."""
    tree = CountingTree()
    view = View(tree)
    for number in range(300):
        body = encode_message(UserMessage((Text("x"),)))
        tree.add(Entry(f"e{number}", f"e{number - 1}" if number else None, "message", "", body))
        view.messages()

    assert tree.paths == 0


class CountingTree(EntryTree):
    paths = 0

    def path(self, leaf=None):
        self.paths += 1
        return super().path(leaf)


def test_late_result_is_led_to_its_call(store):
    answer(store, "", "a")
    view = View(store.tree)
    view.messages()
    answer(store, "next")
    view.messages()
    result(store, "a", "late")

    told = view.messages()
    assert isinstance(told[1], ToolMessage)
    assert told[1].results[0].output == "late"
