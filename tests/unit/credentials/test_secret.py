import copy
import json
import logging
import pickle
import traceback
from dataclasses import asdict, dataclass

import pytest

from orchestrator.credentials.secret import Secret

VALUE = "sk-very-secret-value"


@pytest.mark.parametrize(
    "show",
    [
        repr,
        str,
        lambda s: f"{s}",
        lambda s: f"{s!r:>40}",
        lambda s: "%s" % s,  # noqa: UP031 - one of the ways a log does it
        "{:.3}".format,
        lambda s: str([s]) + str({"k": s}),
        lambda s: str(vars(s)) if hasattr(s, "__dict__") else "",
        lambda s: str(asdict(Holder(s))),
    ],
)
def test_no_way_of_printing_shows_the_value(show) -> None:
    """Whatever formats it gets a mask."""
    assert VALUE not in show(Secret(VALUE))


def fail_with(secret: Secret) -> None:
    raise ValueError(secret)


@dataclass
class Holder:
    secret: Secret


def test_log_and_traceback_show_a_mask(caplog: pytest.LogCaptureFixture) -> None:
    """Also with the values of local variables."""
    secret = Secret(VALUE)
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("x").debug("key %s", secret)
    with pytest.raises(ValueError, match="Secret") as caught:
        fail_with(secret)
    report = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    text = "".join(report.format())
    assert "secret =" in text
    assert VALUE not in text
    assert VALUE not in caplog.text


@pytest.mark.parametrize("save", [pickle.dumps, json.dumps])
def test_it_cannot_be_saved(save) -> None:
    """No serial form exists by accident."""
    with pytest.raises(TypeError) as caught:
        save(Secret(VALUE))
    assert VALUE not in str(caught.value)


def test_it_has_no_hash() -> None:
    """A hash in a log would be a way to guess."""
    with pytest.raises(TypeError):
        hash(Secret(VALUE))


def test_copies_are_itself() -> None:
    """There is one of it."""
    secret = Secret(VALUE)
    assert copy.deepcopy(secret) is secret
    assert copy.copy(secret) is secret


def test_secrets_are_compared_with_secrets() -> None:
    """A text is never equal to a secret."""
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert Secret("ä\udc80") == Secret("ä\udc80")


def test_white_space_around_a_key_is_no_part_of_it() -> None:
    """A pasted line break is dropped; a passphrase keeps its spaces."""
    assert Secret(" a \n").reveal() == "a"
    assert not Secret(" \n")
    assert Secret(" a ", keep_space=True).reveal() == " a "


def test_fingerprint_tells_apart_and_tells_nothing() -> None:
    """Eight hex digits, the same each time."""
    first, second = Secret(VALUE).fingerprint(), Secret(VALUE + "x").fingerprint()
    assert first != second
    assert first == Secret(VALUE).fingerprint()
    assert len(first) == 8
    assert first not in VALUE
