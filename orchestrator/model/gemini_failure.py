"""The exceptions of Google's SDK translated where they enter; counterpart of ``sdk_failure``.

Google says "exceeded your current quota" both of an empty account and of a minute's limit; only the
details that come with it tell which.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import httpx2
from pydantic import ValidationError

from orchestrator.credentials.secret import Secret
from orchestrator.errors import ModelError, ModelFailure
from orchestrator.model.errors import Failure, broken_stream, model_error, retry_after, unreadable
from orchestrator.model.sdk_failure import redirected, struck

_WRONG_KEY = "API key not valid"
_DAY = "PerDay"
"""Part of the name of a limit that waiting does not lift before tomorrow."""


class GeminiTranslator:
    """Knows the SDK's exceptions."""

    def __init__(self, errors: ModuleType, model: str, key: Secret | None) -> None:
        """Translate for a model; ``errors`` is the SDK's module of exceptions."""
        self._errors = errors
        self._model = model
        self._key = key

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Raise ModelError in place of whatever the SDK or its HTTP client raises."""
        failed: ModelError
        try:
            yield
        except self._errors.APIError as error:
            failed = self._status(error)
        except httpx2.TimeoutException:
            failed = broken_stream(self._model, "nothing arrived in time")
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            failed = broken_stream(self._model, self._told(error))
        except (self._errors.UnknownApiResponseError, json.JSONDecodeError, UnicodeDecodeError):
            failed = broken_stream(self._model, "the stream broke off inside an event")
        except ValidationError as error:
            failed = unreadable(self._model, struck(_misshapen(error), self._key))
        else:
            return
        # Not chained: the SDK's exception holds the response, and that the request with the key.
        raise failed from None

    def _status(self, error: Any) -> ModelError:
        status = error.code if isinstance(error.code, int) else 200
        headers: Mapping[str, str] = getattr(error.response, "headers", None) or {}
        if 300 <= status < 400:
            return redirected(self._model, status, headers)
        details = _details(error.details)
        wait = retry_after(headers, datetime.now(UTC))
        wait = _delay(details) if wait is None else wait
        said = struck(str(error.message or ""), self._key)
        failure = Failure(status, str(error.status or ""), "", said, wait)
        return model_error(self._model, failure, kind=_kind(failure, details))

    def _told(self, error: BaseException) -> str:
        return struck(str(error), self._key) or type(error).__name__


def _kind(failure: Failure, details: Sequence[Mapping[str, Any]]) -> ModelFailure | None:
    """Return the kind where Google's own details tell it; None leaves it to the words."""
    if _WRONG_KEY in failure.message:
        return "auth"
    if failure.status != 429 or not details:
        return None
    limits = [
        str(violation.get("quotaId"))
        for detail in details
        for violation in detail.get("violations") or ()
        if isinstance(violation, Mapping)
    ]
    if any(_DAY in limit for limit in limits):
        return "quota"
    return "rate_limit" if limits or _delay(details) is not None else None


def _misshapen(error: ValidationError) -> str:
    """Return what the SDK could not read in an event, without what stood there."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"an event of the answer cannot be read: {place}: {first['msg']}"


def _details(body: Any) -> list[Mapping[str, Any]]:
    """Return the details of an error's body, in whatever shape a server gave it."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    found = inner.get("details") if isinstance(inner, Mapping) else None
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def _delay(details: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the seconds that the details ask to wait."""
    for detail in details:
        told = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(detail.get("retryDelay", "")))
        if told:
            return float(told[1])
    return None
