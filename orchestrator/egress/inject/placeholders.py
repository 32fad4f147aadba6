"""What the box holds in place of each secret: as long, alike in form, and worth nothing."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orchestrator.egress.inject.aws_keys import AwsKeys, parse_aws_keys
from orchestrator.egress.seams import Secrets
from orchestrator.redaction.known import MIN_LENGTH
from orchestrator.redaction.shape_table import SHAPES
from orchestrator.schema.egress import InjectionTerms

MARK = "gbx_"
"""What placeholders begin with, unless programs check what a token begins with."""
_USUAL_LENGTH = 40
"""Of a placeholder whose secret could not be read when the box was made."""
_LETTERS = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_AWS_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")
"""What every form of injection can carry."""


class InjectionRefused(ValueError):  # noqa: N818 - reads as what it is
    """Raised when a request may not have its credential; the text is safe to show to the box."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret, and what the box knows it by."""

    value: str
    placeholder: str

    def __repr__(self) -> str:
        """Return the placeholder alone."""
        return f"Credential({self.placeholder})"


@dataclass(frozen=True, slots=True)
class AwsCredential:
    """A pair of keys, and the pair that the box signs with."""

    real: AwsKeys
    box: AwsKeys


class Placeholders:
    """One session's placeholders: the same reference gets the same one all session long."""

    def __init__(self, values: Secrets) -> None:
        """Read values from ``values``, each once until ``forget``."""
        self._source = values
        self._values: dict[str, str] = {}
        self._placeholders: dict[str, str] = {}
        self._pairs: dict[str, AwsKeys] = {}

    def variables(self, terms: Iterable[InjectionTerms]) -> dict[str, str]:
        """Return what the box's variables hold; a secret that cannot be read has one all the same."""
        found: dict[str, str] = {}
        for one in terms:
            if one.form == "sigv4":
                pair = self._box_pair(one.secret)
                names = one.variables or _AWS_VARIABLES
                found |= zip(names, (pair.id, pair.key), strict=False)
            else:
                found |= dict.fromkeys(one.variables, self._placeholder(one.secret))
        return found

    def credential(self, reference: str) -> Credential:
        """Return a secret for the forms that send it as it is. InjectionRefused."""
        value = self._checked(reference)
        return Credential(value, self._placeholder(reference))

    def aws(self, reference: str) -> AwsCredential:
        """Return a secret that is a pair of keys. InjectionRefused."""
        real = parse_aws_keys(self._checked(reference))
        if real is None:
            raise InjectionRefused(
                f"the secret {reference} is no pair of keys; expected ID:KEY or ID:KEY:TOKEN"
            )
        return AwsCredential(real, self._box_pair(reference))

    def unfit(self, terms: Iterable[InjectionTerms]) -> tuple[str, ...]:
        """Return why secrets that can be read cannot be sent, each once; safe to show."""
        found: dict[str, None] = {}
        for one in terms:
            if not self._value_if_any(one.secret):
                continue
            try:
                (self.aws if one.form == "sigv4" else self.credential)(one.secret)
            except InjectionRefused as error:
                found[str(error)] = None
        return tuple(found)

    def secret_in(self, text: str) -> str | None:
        """Return the reference of a secret whose placeholder stands in a text; None without one."""
        boxed = {**self._placeholders, **{name: pair.id for name, pair in self._pairs.items()}}
        return next((name for name, own in boxed.items() if own in text), None)

    def stand_ins(self) -> Mapping[str, str]:
        """Return the placeholder of each value that was read and may be sent, by the value."""
        found: dict[str, str] = {}
        for reference, value in self._values.items():
            pair = parse_aws_keys(value) if reference in self._pairs else None
            if pair is not None:
                box = self._pairs[reference]
                found |= {pair.id: box.id, pair.key: box.key, pair.token: box.key}
            if reference in self._placeholders:
                found[value] = self._placeholders[reference]
        return {value: own for value, own in found.items() if len(value) >= MIN_LENGTH}

    def known(self) -> Mapping[str, str]:
        """Return the values that were read so far, by reference, for those who redact."""
        found = dict(self._values)
        for reference in self._pairs:
            pair = parse_aws_keys(self._values.get(reference, ""))
            if pair is not None:
                found |= {reference: pair.key, f"{reference} token": pair.token}
        return {name: value for name, value in found.items() if value}

    def forget(self) -> None:
        """Read the values anew when they are next needed: keys may have been changed."""
        self._values.clear()

    def _checked(self, reference: str) -> str:
        try:
            value = self._value(reference)
        except LookupError as error:
            why = str(error.args[0]) if error.args else reference
            raise InjectionRefused(f"a secret cannot be read on the host: {why}") from error
        if len(value) < MIN_LENGTH:
            raise InjectionRefused(
                f"the secret {reference} is shorter than {MIN_LENGTH} characters, too short to be "
                "kept out of the answers"
            )
        if not _PLAIN.fullmatch(value):
            raise InjectionRefused(f"the secret {reference} holds more than printable ASCII")
        return value

    def _value(self, reference: str) -> str:
        """Return a value, read at most once; LookupError."""
        if reference not in self._values:
            self._values[reference] = self._source.value(reference).strip()
        return self._values[reference]

    def _value_if_any(self, reference: str) -> str:
        try:
            return self._value(reference)
        except LookupError:
            return ""

    def _placeholder(self, reference: str) -> str:
        if reference not in self._placeholders:
            value = self._value_if_any(reference)
            self._placeholders[reference] = placeholder_for(value or "x" * _USUAL_LENGTH)
        return self._placeholders[reference]

    def _box_pair(self, reference: str) -> AwsKeys:
        if reference not in self._pairs:
            real = parse_aws_keys(self._value_if_any(reference))
            long = real.id if real else "x" * 20
            # Always of the long-lived kind: the box needs no session token to sign with.
            identity = "AKIAGBX" + _random(
                string.ascii_uppercase + "234567", max(13, len(long) - 7)
            )
            self._pairs[reference] = AwsKeys(identity, _random(_LETTERS, 40), "")
        return self._pairs[reference]


def placeholder_for(secret: str) -> str:
    """Return a new placeholder, as long as the secret and with its vendor's prefix if it has one."""
    prefix = next(
        (
            shape.anchor
            for shape in SHAPES
            if not shape.back and shape.pattern.match(secret) and secret.startswith(shape.anchor)
        ),
        "",
    )
    rest = secret[len(prefix) :]
    if not prefix or len(rest) < 12:
        return MARK + _random(_LETTERS, max(len(secret) - len(MARK), 4))
    if not set(rest) - set(_HEX) and not rest.isdecimal():
        return prefix + _random(_HEX, len(rest))
    mark = "GBX" if rest == rest.upper() else "gbx"
    letters = string.ascii_uppercase + string.digits if mark == "GBX" else _LETTERS
    return prefix + mark + _random(letters, len(rest) - len(mark))


def _random(letters: str, length: int) -> str:
    return "".join(secrets.choice(letters) for _ in range(length))
