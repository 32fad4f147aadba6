"""A conversation as text, and the files it touched."""

import pytest

from orchestrator.context.dialogue import MOST_FILES, Files, dialogue, shortened
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)


def call(name, path):
    return ToolCall("1", name, f'{{"path": "{path}"}}', {"path": path})


def calls(*made):
    return [AssistantMessage(tuple(made), "tool_use")]


def test_roles_are_named_and_thoughts_left_out():
    text = dialogue(
        [
            UserMessage((Text("mend it"), Image("image/png", "AAAA"))),
            AssistantMessage(
                (Thinking("hm", "x"), Text("I look"), call("read", "a.py")), "tool_use"
            ),
            ToolMessage((ToolResult("1", "read", "code", is_error=True),)),
        ]
    )

    assert text == (
        "[user]: mend it\n[a picture]\n\n[assistant]: I look\n\n"
        '[call]: read({"path": "a.py"})\n\n[error of read]: code'
    )


def test_long_results_keep_beginning_and_end():
    """An error stands at the end."""
    told = dialogue([ToolMessage((ToolResult("1", "bash", "a" * 5000 + "the error"),))])

    assert len(told) < 2200
    assert told.endswith("the error")


def test_results_can_be_left_out():
    assert dialogue([ToolMessage((ToolResult("1", "bash", "x"),))], results=False) == ""


def test_modified_wins_over_read_and_lists_are_carried_on():
    files = Files(("old.py", "a.py"), ("b.py",)).with_calls(
        calls(
            call("read", "c.py"), call("edit", "a.py"), call("bash", "d.py"), call("read", "b.py")
        )
    )

    assert files == Files(("old.py", "c.py"), ("b.py", "a.py"))
    assert "<read-files>\nold.py\nc.py\n</read-files>" in files.text()
    assert Files().text() == ""


def test_lists_stay_bounded_and_keep_the_newest():
    many = Files().with_calls(calls(*(call("read", f"{n}.py") for n in range(MOST_FILES + 5))))

    assert len(many.read) == MOST_FILES
    assert many.read[-1] == f"{MOST_FILES + 4}.py"


@pytest.mark.parametrize("files", [None, 3, {"read": 1}, {"read": [1, "a"], "modified": None}])
def test_damaged_lists_are_empty(files):
    assert Files.of_body({"files": files}).modified == ()


@pytest.mark.parametrize("arguments", [None, {}, {"path": 3}, {"path": ""}])
def test_call_without_a_path_touches_nothing(arguments):
    assert Files().with_calls(calls(ToolCall("1", "read", "{}", arguments))) == Files()


def test_shortened_leaves_short_texts_alone():
    assert shortened("abc", 3) == "abc"
    assert "left out" in shortened("a" * 1000, 100)
