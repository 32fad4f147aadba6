from pathlib import Path

import anyio
import pytest

from orchestrator.errors import ConfigError, ModelError, ScriptError
from orchestrator.model.client import Delta, Prompt
from orchestrator.model.script_file import parse_script
from orchestrator.model.scripted import ScriptedModel, open_script
from orchestrator.schema.message import AssistantMessage, Message, Text, ToolMessage
from tests.support.model_history import asked, result, said


def model(text: str) -> ScriptedModel:
    return ScriptedModel(parse_script("version: 1\n" + text, "s.yaml"), source="s.yaml")


def turn(client: ScriptedModel, *messages: Message, purpose: str = "turn") -> AssistantMessage:
    prompt = Prompt("", messages, (), purpose)  # type: ignore[arg-type]
    return anyio.run(lambda: client.complete(prompt, on_delta=lambda _: None))


TWO = "turns: [{text: first}, {text: second}]\n"


def test_turn_is_chosen_by_how_much_was_said_before() -> None:
    """A resumed or forked conversation goes on where it was."""
    assert turn(model(TWO), asked("a")).text == "first"
    assert turn(model(TWO), asked("a"), said(Text("x"), stop="end_turn")).text == "second"


def test_exhausted_script_fails_the_run() -> None:
    """A run that goes past its script is a wrong run."""
    with pytest.raises(ScriptError, match="exhausted"):
        turn(model(TWO), *[said(Text("x"))] * 2)


def test_error_is_raised_once_and_a_retry_goes_on() -> None:
    """A failure stands before the next answer and eats no turn."""
    client = model(
        "turns: [{text: a}, {error: {status: 529, type: overloaded_error, retry_after: 0}},"
        " {error: {status: 429}}, {text: b}]\n"
    )
    before = (said(Text("a"), stop="end_turn"),)
    kinds: list[str] = []
    for _ in range(2):
        with pytest.raises(ModelError) as caught:
            turn(client, *before)
        kinds.append(caught.value.kind)
    assert kinds == ["overloaded", "rate_limit"]
    assert turn(client, *before).text == "b"


def test_error_after_the_last_answer_leads_to_the_end() -> None:
    """After a last failure there is nothing left to say."""
    client = model("turns: [{error: {status: 401}}]\n")
    with pytest.raises(ModelError) as caught:
        turn(client)
    assert caught.value.kind == "auth"
    with pytest.raises(ScriptError):
        turn(client)


def test_error_without_status_is_a_lost_connection() -> None:
    """A network failure can be scripted too."""
    with pytest.raises(ModelError) as caught:
        turn(model("turns: [{error: {message: gone}}]\n"))
    assert caught.value.kind == "network"


def test_expectation_that_fails_shows_both_texts() -> None:
    """Whoever reads the failure sees what was wanted and what was there."""
    client = model("turns: [{text: a, expect: {last_tool_output_contains: banana}}]\n")
    with pytest.raises(ScriptError, match=r"'banana'.*'apple'"):
        turn(client, ToolMessage((result("c", "apple"),)))
    with pytest.raises(ScriptError, match="no tool output"):
        turn(client, asked("hello"))


def test_expectation_that_holds_lets_the_turn_pass() -> None:
    """The last result of the last batch is looked at."""
    client = model("turns: [{text: a, expect: {last_tool_output_contains: pea}}]\n")
    assert turn(client, ToolMessage((result("b", "x"), result("c", "pear")))).text == "a"


def test_stop_reason_follows_the_calls() -> None:
    """Calls end a turn by tool use; a given reason wins."""
    call = "tool_calls: [{name: ls}]"
    client = model(f"turns: [{{{call}}}, {{{call}, stop_reason: max_tokens}}, {{text: x}}]\n")
    first, second = turn(client), turn(client, said())
    assert (first.stop_reason, second.stop_reason) == ("tool_use", "max_tokens")
    assert turn(client, said(), said()).stop_reason == "end_turn"
    assert first.tool_calls[0].arguments == {}
    assert first.tool_calls[0].id != second.tool_calls[0].id


def test_raw_arguments_stay_as_they_are() -> None:
    """Malformed arguments reach the harness malformed."""
    client = model('turns: [{tool_calls: [{name: bash, raw_arguments: \'{"command": "ls\'}]}]\n')
    call = turn(client).tool_calls[0]
    assert call.raw_arguments == '{"command": "ls'
    assert call.arguments is None


def test_template_fills_arguments_from_the_last_output() -> None:
    """A script can answer to what happened."""
    text = "template: true\nturns: [{tool_calls: [{name: x, arguments: {a: ['{{ last_output }}!'], n: 1}}]}]"
    message = turn(model(text), ToolMessage((result("c", "42"),)))
    assert message.tool_calls[0].arguments == {"a": ["42!"], "n": 1}


def test_template_is_off_unless_asked_for() -> None:
    """Braces in a command are braces."""
    text = "turns: [{tool_calls: [{name: x, arguments: {a: '{{ last_output }}'}}]}]"
    assert turn(model(text)).tool_calls[0].arguments == {"a": "{{ last_output }}"}


@pytest.mark.parametrize(
    "template", ["{{ ''.__class__.__mro__ }}", "{{ unknown }}", "{{ last_output", "{% for %}"]
)
def test_template_that_is_wrong_or_reaches_out_fails(template: str) -> None:
    """A script from elsewhere cannot reach the host's Python."""
    text = f'template: true\nturns: [{{tool_calls: [{{name: x, arguments: {{a: "{template}"}}}}]}}]'
    with pytest.raises(ScriptError, match="template"):
        turn(model(text))


def test_conclusions_and_summaries_eat_no_turns() -> None:
    """They have lists of their own."""
    client = model(TWO + "conclusion: the end\nsummaries: [s1, s2]\n")
    assert turn(client, purpose="summary").text == "s1"
    assert turn(client, purpose="conclusion").text == "the end"
    assert turn(client, purpose="summary").text == "s2"
    assert turn(client).text == "first"
    with pytest.raises(ScriptError, match="summaries"):
        turn(client, purpose="summary")


def test_conclusion_that_is_not_scripted_fails() -> None:
    """Nothing is made up."""
    with pytest.raises(ScriptError, match="conclusion"):
        turn(model(TWO), purpose="conclusion")


def test_text_streams_in_pieces_that_make_the_whole() -> None:
    """A script exercises streaming like a provider."""
    text = "a text that is longer than a single piece of it"
    pieces: list[Delta] = []
    client = model(f"turns: [{{text: {text}}}]\n")
    anyio.run(lambda: client.complete(Prompt("", ()), on_delta=pieces.append))
    assert len(pieces) > 1
    assert "".join(piece.text for piece in pieces) == text


def test_info_and_usage_come_from_the_script() -> None:
    """Windows, prices and counts can be scripted, so limits can be tested."""
    client = model(
        "model: {name: m, context_window: 100, max_output: 10, prices: {input: 3, output: 15}}\n"
        "turns: [{text: a, usage: {input: 5, output: 2, cache_read: 1}}]\n"
    )
    assert client.info.id == "scripted/m"
    assert (client.info.context_window, client.info.input_price) == (100, 3)
    assert turn(client).usage.total == 8


def test_file_is_opened_or_refused(tmp_path: Path) -> None:
    """``scripted:FILE`` names its file in every error."""
    path = tmp_path / "s.yaml"
    path.write_text("version: 1\nturns: []\n")
    with pytest.raises(ScriptError, match=str(path)):
        turn(open_script(path))
    with pytest.raises(ConfigError):
        open_script(tmp_path / "none.yaml")
