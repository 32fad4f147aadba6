"""Secrets out of all that leaves a call, in the same shape; and back into their own file."""

import json
from dataclasses import replace

import pytest

from orchestrator.dispatch.output import OutputFilter
from orchestrator.redaction.redactor import Redactor
from orchestrator.schema.codec import decode_message, encode_message, parse_arguments
from orchestrator.schema.ids import CallId
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
from orchestrator.schema.request import (
    EditRequest,
    GrepRequest,
    ReadRequest,
    Replacement,
    WriteRequest,
)

SECRET = "correct-horse-battery-staple-7"
ENV, OTHER = "/workspace/.env", "/workspace/other"


@pytest.fixture
def output():
    return OutputFilter(Redactor({"acme": SECRET}))


def called(raw, call_id="call_1"):
    return ToolCall(CallId(call_id), "bash", raw, parse_arguments(raw))


def test_every_message_is_scrubbed_in_every_text(output):
    """What a person, a model and a tool said."""
    messages = (
        UserMessage((Text(f"use {SECRET}"), Image("image/png", "aGk="))),
        AssistantMessage(
            (
                Text(f"I see {SECRET}"),
                Thinking(f"hm, {SECRET}", "anthropic", "c2lnbmVk"),
                called(json.dumps({"command": f"echo {SECRET}"})),
            ),
            "tool_use",
        ),
        ToolMessage((ToolResult(CallId("call_1"), "bash", SECRET),)),
    )

    safe = [output.scrub_message(message) for message in messages]

    assert SECRET not in repr(safe)
    assert repr(safe).count("[redacted:acme:") == 6
    assert safe[0].content[1] == Image("image/png", "aGk=")
    assert [decode_message(encode_message(message)) for message in safe] == safe


def test_message_without_secrets_stays_byte_for_byte(output):
    """Arguments keep the model's own spelling; thoughts, texts and calls their marks."""
    message = AssistantMessage(
        (
            Text("fine"),
            Text("signed", "c2lnbmVk"),
            replace(called('{"command": "pwd"}'), signature="c2lnbmVk"),
            Thinking("hm", "anthropic", "c2lnbmVk"),
            Thinking("hm", "local"),
            called('{ "command" : "ls" }'),
        ),
        "tool_use",
    )

    assert output.scrub_message(message) == message


SIGNED = {
    "thought": Thinking("hm", "gemini", "c2lnbmVk"),
    "text": Text("hm", "c2lnbmVk"),
    "call": ToolCall(CallId("call_1"), "bash", "{}", {}, "c2lnbmVk"),
}


@pytest.mark.parametrize("part", SIGNED.values(), ids=SIGNED)
def test_what_was_changed_loses_its_signature(output, part):
    """A provider refuses its signature under another text."""
    if isinstance(part, ToolCall):
        changed = replace(called(json.dumps({"command": SECRET})), signature=part.signature)
    else:
        changed = replace(part, text=SECRET)

    (safe,) = output.scrub_message(AssistantMessage((changed,), "end_turn")).content

    assert safe.signature is None


@pytest.mark.parametrize("part", SIGNED.values(), ids=SIGNED)
def test_signature_that_holds_a_known_value_is_dropped(output, part):
    """Some providers' blobs hold readable text."""
    signed = replace(part, signature=json.dumps({"summary": SECRET}))

    (safe,) = output.scrub_message(AssistantMessage((signed,), "end_turn")).content

    assert safe == replace(part, signature=None)


def test_call_id_is_never_touched(output):
    """Results are found by it: even one that looks like a token stays."""
    token = "ghp_" + "a1B2" * 9
    message = AssistantMessage((called("{}", token),), "tool_use")

    assert output.scrub(token) != token
    assert output.scrub_message(message).tool_calls[0].id == token


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps({"command": f"echo '{SECRET}\"'"}),
        json.dumps({"content": f'password="{SECRET}\\\\"\n'}),
        '{"command": "' + "".join(f"\\u{ord(char):04x}" for char in SECRET) + '"}',
        f'{{"command": "{SECRET}", "command": "ls"}}',
    ],
    ids=["quoted", "escaped", "spelled-out", "twice"],
)
def test_scrubbed_arguments_are_still_an_object(output, raw):
    """Redaction does not make a call malformed, and no spelling of JSON hides a value."""
    (safe,) = output.scrub_message(AssistantMessage((called(raw),), "tool_use")).tool_calls

    assert SECRET not in json.dumps(json.loads(safe.raw_arguments))
    assert SECRET not in safe.raw_arguments
    assert json.loads(safe.raw_arguments) == safe.arguments


def test_malformed_arguments_are_scrubbed_as_text(output):
    """There is no object to keep."""
    (safe,) = output.scrub_message(
        AssistantMessage((called(f'{{"command": "{SECRET}'),), "tool_use")
    ).tool_calls

    assert SECRET not in safe.raw_arguments
    assert safe.arguments is None


def test_data_keeps_its_shape(output):
    """Numbers, lists and nothing stay what they are."""
    data = {"a": [1, None, True, f"x {SECRET}"], "b": {"c": 2.5}}

    safe = output.scrub_data(data)

    assert SECRET not in repr(safe)
    assert (safe["a"][:3], safe["b"]) == ([1, None, True], {"c": 2.5})


def read(output, path=ENV, resolved=ENV):
    return output.scrub_result(ReadRequest(path, resolved=resolved), f"TOKEN={SECRET}\n")


def test_write_of_what_was_read_restores_the_same_file(output):
    """Bound to where the file lands, whatever it was called."""
    seen = read(output, path="/workspace/link")
    restored, problem = output.restore(WriteRequest(ENV, seen, resolved=ENV), ENV)

    assert problem == ""
    assert restored.content == f"TOKEN={SECRET}\n"
    assert (restored.path, restored.resolved) == (ENV, ENV)


def test_edit_restores_old_and_new_text(output):
    """An edit finds the secret it was shown as a placeholder."""
    placeholder = read(output).strip().partition("=")[2]
    edit = EditRequest(
        ENV, (Replacement(f"={placeholder}", f"='{placeholder}'"), Replacement("a", "b"))
    )

    restored, problem = output.restore(edit, ENV)

    assert problem == ""
    assert restored.edits == (Replacement(f"={SECRET}", f"='{SECRET}'"), Replacement("a", "b"))


def test_write_to_another_file_is_refused_by_name(output):
    """The refusal names file and placeholder, and changes nothing."""
    seen = read(output)
    request = WriteRequest(OTHER, seen, resolved=OTHER)

    same, problem = output.restore(request, OTHER)

    assert same is request
    assert problem.startswith(f"{OTHER}: ")
    assert "[redacted:acme:" in problem


@pytest.mark.parametrize(
    "request_of",
    [
        lambda: GrepRequest("TOKEN", ENV, resolved=ENV),
        lambda: ReadRequest(ENV),
    ],
    ids=["search", "unresolved"],
)
def test_placeholder_from_anything_but_a_resolved_read_belongs_to_no_file(output, request_of):
    """Only a read says what a file holds."""
    seen = output.scrub_result(request_of(), f"TOKEN={SECRET}\n")
    _, problem = output.restore(WriteRequest(ENV, seen, resolved=ENV), ENV)

    assert problem != ""


def test_request_without_texts_has_nothing_to_restore(output):
    """A read passes unchanged."""
    request = ReadRequest(ENV, resolved=ENV)

    assert output.restore(request, ENV) == (request, "")


def test_stream_finds_a_value_cut_at_every_place(output):
    """No cut of the pieces lets a part of it out."""
    text = f"a {SECRET} b\n"
    for cut in range(1, len(text)):
        pieces = []
        stream = output.stream(pieces.append)
        stream.feed(text[:cut])
        stream.feed(text[cut:])
        stream.flush()

        assert "".join(pieces) == output.scrub(text)


def test_value_that_is_learned_later_is_kept_out_too(output):
    output.scrub("a late-known-value")
    output.learn({"late": "late-known-value"})

    assert "late-known-value" not in output.scrub("a late-known-value")
    assert SECRET not in output.scrub(SECRET)
