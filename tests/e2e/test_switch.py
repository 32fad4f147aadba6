"""One session through the models of four vendors, in the real command with a real box."""

import base64
from contextlib import ExitStack

import pytest
import yaml

from tests.support.api_talk import MODELS, settings_of
from tests.support.model_history import PIXEL
from tests.support.vendor import Say, Vendor

pytestmark = pytest.mark.docker

A, B, C, D = "anthropic", "openai-responses", "openai-chat", "gemini"
WAY = (A, B, A, C, A, D, B, C, B, D, C, D, A)
"""Every ordered pair of APIs once."""
KEY = "sk-e2e-0123456789abcdef"


def answers(api, visits):
    """Return what a vendor says each time it is come to: two calls, one of them refused, then text."""
    for visit in range(visits):
        look = ("call_1", "read", '{"path": "pixel.png"}')
        destroy = ("call_2", "bash", '{"command": "rm -rf /"}')
        yield Say(f"{api} looks.", (look, destroy), thought=f"{api} thinks, time {visit}")
        yield Say(f"{api} is done, time {visit}.", thought=f"{api} is content, time {visit}")


@pytest.fixture
def vendors(world):
    """Four vendors, named in the user's configuration."""
    with ExitStack() as stack:
        made = {
            api: stack.enter_context(Vendor(api, *answers(api, WAY.count(api)))) for api in MODELS
        }
        providers = {
            f"my-{api}": settings_of(api, vendor.address).model_dump(mode="json", exclude_none=True)
            for api, vendor in made.items()
        }
        (world.root / "config").mkdir()
        (world.root / "config" / "config.yaml").write_text(yaml.safe_dump({"providers": providers}))
        yield made


def name_of(api):
    return f"my-{api}/{MODELS[api]}"


def check(ended, steps):
    """Each step ended with its vendor's next answer, one call done and one refused."""
    assert ended.code == 0, ended.err
    answers = [e["message"]["content"][-1].get("text", "") for e in ended.of("message_end")]
    wanted = [f"{WAY[step]} is done, time {WAY[:step].count(WAY[step])}." for step in steps]
    assert [answer for answer in answers if "is done" in answer] == wanted
    calls = sorted((e["name"], e["is_error"]) for e in ended.of("tool_end"))
    assert calls == [("bash", True)] * len(steps) + [("read", False)] * len(steps)


def test_session_goes_through_all_pairs_of_vendors(world, vendors):
    """No vendor refuses what another left behind, and each gets its own signatures back."""
    (world.project / "pixel.png").write_bytes(base64.b64decode(PIXEL))
    keys = {f"MY_{api.upper().replace('-', '_')}_API_KEY": KEY for api in MODELS}
    more = ("--thinking", "high", "--json")
    for step in range(3):
        again = ["--continue"] if step else []
        ran = world.run("run", f"step {step}", "-m", name_of(WAY[step]), *again, *more, env=keys)
        check(ran, [step])
    rest = range(3, len(WAY))
    said = "".join(f"/model {name_of(WAY[step])}\nstep {step}\n" for step in rest)
    check(world.run("chat", "--continue", *more, env=keys, stdin=said), rest)

    assert [vendor.refused for vendor in vendors.values()] == [[]] * 4
    for vendor in vendors.values():
        assert vendor.came_back() == vendor.issued[:-1]
        assert vendor.script == []
    last = str(vendors[WAY[-1]].asked[-1].body)
    assert all(f"step {step}" in last for step in range(len(WAY)))
    assert last.count("'media_type': 'image/png'") == len(WAY)


@pytest.mark.model
def test_embedded_model_takes_a_session_over_and_gives_it_back(world, vendors):
    """A real one without a key in the middle of a vendor's session."""
    (world.project / "pixel.png").write_bytes(base64.b64decode(PIXEL))
    keys = {"MY_ANTHROPIC_API_KEY": KEY}
    vendor = vendors[A]
    orders = (
        ("step 0", name_of(A)),
        ("Run the command: echo blue whale", "local"),
        ("step 2", name_of(A)),
    )
    ended = [
        world.run("run", said, "-m", model, "--json", *(["--continue"] if at else []), env=keys)
        for at, (said, model) in enumerate(orders)
    ]

    assert [ran.code for ran in ended] == [0, 0, 0], ended[1].of("error")[0]["message"]
    assert vendor.refused == []
    assert "blue whale" in ended[1].of("session_end")[0]["answer"]
    assert [e["output"].strip() for e in ended[1].of("tool_end")] == ["blue whale"]
    assert ended[2].of("session_end")[0]["answer"] == f"{A} is done, time 1."
    assert vendor.came_back() == vendor.issued[:3]
