"""The border where the Docker SDK's exceptions become ours; every engine module crosses it here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from docker.errors import APIError, DockerException, StreamParseError
from urllib3.exceptions import HTTPError as TransportError
from urllib3.exceptions import TimeoutError as TransportTimeout

from orchestrator.engine.patience import note_silence, note_word
from orchestrator.errors import EngineError, EngineUnavailable

LOOK_CLOSER = "run `glovebox doctor`; it says what is wrong and how to mend it"


@contextmanager
def translated(action: str) -> Iterator[None]:
    """Turn whatever the SDK raises inside into an EngineError that begins with ``action``.

    An answer of the engine (any HTTP status) is an EngineError, silence an EngineUnavailable.
    Catch ``docker.errors.NotFound`` and its kin inside the block, where they mean something.
    """
    try:
        yield
    except APIError as err:
        raise EngineError(f"{action}: the engine refused ({_answer(err)})") from err
    except (DockerException, StreamParseError, ValueError) as err:
        raise EngineError(f"{action}: {err}") from err
    # The SDK lets the exceptions of `requests` through; all of them are OSErrors.
    except (OSError, TransportError) as err:
        if any(isinstance(inner, TimeoutError | TransportTimeout) for inner in _unwrapped(err)):
            note_silence()
        else:
            note_word()
        raise EngineUnavailable(
            f"{action}: the engine stopped answering ({plain_cause(err)})", hint=LOOK_CLOSER
        ) from err


def plain_cause(err: BaseException) -> str:
    """Return the operating system's own words for a failure, however deeply it was wrapped."""
    for inner in _unwrapped(err):
        if isinstance(inner, OSError) and inner.strerror:
            return inner.strerror.lower()
    return str(err)


def _unwrapped(err: BaseException) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    queue = [err]
    while queue:
        current = queue.pop(0)
        if current in seen:
            continue
        seen.append(current)
        yield current
        linked = (
            *current.args,
            getattr(current, "reason", None),
            current.__cause__,
            current.__context__,
        )
        queue += [item for item in linked if isinstance(item, BaseException)]


def _answer(err: APIError) -> str:
    status = f"HTTP {err.status_code}" if err.status_code is not None else "no status"
    return f"{status}: {err.explanation}" if err.explanation else status
