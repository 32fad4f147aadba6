"""Model calls in sum."""

from orchestrator.harness.box_models.summary import box_calls, summarise_models


def began(number, **more):
    known = {"provider": "anthropic", "model": "claude", "rule": "models.allow", "asked": "claude"}
    body = {"number": number, "effect": "allow", "path": "/v1/messages", "reason": ""}
    return {"type": "model_call_in_box", "body": body | known | more}


def ended(number, **more):
    usage = {"input": 10, "output": 5, "cache_read": 0, "cache_write": 0}
    body = {"number": number, "usage": usage, "cost_usd": "0.25", "estimated": False, "problem": ""}
    return {"type": "model_call_in_box_end", "body": body | more}


def test_calls_alike_are_one_row():
    """With all that they took, and how much of it is known."""
    caller = {"program": "/usr/bin/pi", "pid": 3}
    (row,) = summarise_models(
        [
            began(1, caller=caller),
            ended(1),
            began(2, caller=caller),
            ended(2, cost_usd=None, estimated=True, problem="the client went away"),
            began(3),
            ended(3, usage=None, cost_usd=None),
            began(4),
        ]
    )

    assert (row.model, row.count, row.tokens, row.cost_usd) == ("anthropic/claude", 4, 30, 0.25)
    assert (row.unpriced, row.estimated) == (1, 1)
    assert row.problems == ["the client went away"]
    assert row.programs == ["/usr/bin/pi"]
    assert row.as_data()["tokens"] == 30


def test_refusals_come_last_by_what_was_asked_for():
    """Those that were counted only are counted here too."""
    refusal = {"effect": "deny", "provider": "", "model": "", "rule": "r", "reason": "no"}
    rows = summarise_models(
        [
            began(1, asked="gpt", **refusal, count=1),
            began(2, asked="gpt", **refusal, count=10),
            began(3, asked="", **refusal),
            began(4),
        ]
    )

    assert [(row.effect, row.model, row.count) for row in rows] == [
        ("allow", "anthropic/claude", 1),
        ("deny", "gpt", 10),
        ("deny", "/v1/messages", 1),
    ]
    assert rows[1].reason == "no"


def test_records_without_sense_are_left_out():
    """A chain is a file that somebody may have written."""
    broken = [
        {"type": "model_call_in_box", "body": None},
        {"type": "model_call_in_box_end", "body": {"number": "x", "usage": 5}},
        began(1, caller="me"),
        ended(1, usage={"input": "many"}, cost_usd="dear"),
        {"type": "egress", "body": {}},
    ]
    (row,) = summarise_models(broken)

    assert (row.count, row.tokens, row.unpriced) == (1, 0, 1)


def test_calls_that_are_over_are_told_as_a_session_file_tells_them():
    """Refused ones, those still under way and those that used nothing are left out."""
    calls = list(
        box_calls(
            [
                began(1),
                ended(1),
                began(2),
                ended(2, cost_usd=None, estimated=True),
                began(3),
                ended(3, usage=None),
                began(4, effect="deny"),
                began(5),
                {"type": "model_call_in_box_end", "body": "x"},
                ended(9),
            ]
        )
    )

    usage = {"input": 10, "output": 5, "cache_read": 0, "cache_write": 0}
    one = {"purpose": "box", "model": "anthropic/claude"}
    assert calls == [
        one | {"usage": usage | {"estimated": 0}, "cost_usd": 0.25},
        one | {"usage": usage | {"estimated": 15}, "cost_usd": None},
    ]
