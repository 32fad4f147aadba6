"""Requests that readers differ on: judged, sent and read as one and the same, or refused."""

from pathlib import Path

import anyio
import pytest
import yaml

from tests.support.egress_smuggling import disagreement, send

FILE = Path(__file__).parents[1] / "cases" / "smuggling.yaml"
HOST = "Host: a.example\r\n"
POST = "POST http://a.example/first HTTP/1.1\r\n" + HOST
CASES = yaml.safe_load(FILE.read_text())


def bytes_of(case):
    return case["sends"].replace("{P}", POST).replace("{H}", HOST).encode("latin-1")


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_message_means_one_thing_or_goes_nowhere(case):
    """Whole requests that reach the server are as many as the case says, and each was judged."""
    data = bytes_of(case)
    outcome = anyio.run(send, data)
    whole = [message for message in outcome.read if message[0]]

    assert disagreement(data, outcome) == ""
    if case["passes"]:
        assert len(whole) == case["passes"], outcome
        assert outcome.got.count(b"HTTP/1.1 200 OK") == case["passes"]
    else:
        assert outcome.got.count(b"HTTP/1.1 200 OK") == 0
        assert outcome.got == b"" or outcome.got.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")), outcome


def test_a_second_opinion_that_differs_is_noticed():
    """Were the proxy to send something else than was judged, the check would say so."""
    data = bytes_of(CASES[0])
    outcome = anyio.run(send, data)
    outcome.read.append(("GET", "/admin", b""))

    assert "judged was" in disagreement(data, outcome)
