from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.model.output_budget import LEAST, estimate, output_budget
from orchestrator.schema.message import Image, Text, Thinking, ToolMessage
from orchestrator.schema.picture_tokens import picture_tokens
from tests.support.model_contract import BASH
from tests.support.model_history import asked, call, result, said

INFO = ModelInfo("p", "m", 10_000, 4_096)


def test_short_prompt_gets_the_models_whole_output() -> None:
    """Room is not saved where there is enough."""
    assert output_budget(Prompt("", (asked("hi"),)), INFO) == 4_096


def test_long_prompt_leaves_the_answer_what_is_left() -> None:
    """Prompt and answer together fit the window."""
    prompt = Prompt("", (asked("x" * 21_000),))
    assert output_budget(prompt, INFO) == 10_000 - 7_000


def test_answer_is_never_asked_to_be_useless() -> None:
    """Past the window the provider says so itself."""
    prompt = Prompt("", (asked("x" * 60_000),))
    assert output_budget(prompt, INFO) == LEAST
    assert output_budget(prompt, ModelInfo("p", "m", 10_000, 512)) == 512


def test_estimate_counts_every_part() -> None:
    """Nothing that is sent is counted as nothing."""
    picture = Image("image/png", "AAAA")
    empty = estimate(Prompt("", ()))
    assert empty == 0
    for prompt in (
        Prompt("x" * 30, ()),
        Prompt("", (), (BASH,)),
        Prompt("", (asked("x" * 30),)),
        Prompt("", (said(Text("x" * 30)),)),
        Prompt("", (said(Thinking("", "p", "x" * 30)),)),
        Prompt("", (said(call("c", "x" * 30)),)),
        Prompt("", (ToolMessage((result("c", "x" * 30),)),)),
    ):
        assert estimate(prompt) >= 10
    assert estimate(Prompt("", (asked(picture),))) == picture_tokens(picture)
    assert estimate(Prompt("", (ToolMessage((result("c", "", picture),)),))) == picture_tokens(
        picture
    )
