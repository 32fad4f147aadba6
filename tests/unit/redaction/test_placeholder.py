"""Placeholders are stable, unguessable, and lead back to one file only."""

import pytest

from orchestrator.redaction.placeholder import PLACEHOLDER, Ledger, kind_from, placeholders_in


def test_same_secret_has_same_placeholder() -> None:
    """The model can tell that two places hold the same thing."""
    ledger = Ledger(bytes(32))

    assert ledger.issue("token", "s3cret") == ledger.issue("token", "s3cret")
    assert ledger.issue("token", "s3cret") != ledger.issue("token", "s3cret2")


def test_placeholder_depends_on_the_sessions_key() -> None:
    """A guess cannot be tested without the key."""
    assert Ledger(bytes(32)).issue("t", "s") != Ledger(b"1" * 32).issue("t", "s")


def test_placeholder_has_its_form() -> None:
    """Every placeholder is found again in a text."""
    placeholder = Ledger(bytes(32)).issue("github-token", "half \ud83d")

    assert PLACEHOLDER.fullmatch(placeholder)
    assert placeholders_in(f"{placeholder} and {placeholder}") == (placeholder,)


def test_two_secrets_never_share_a_placeholder() -> None:
    """When eight digits collide, the later one gets more."""
    ledger = Ledger(bytes(32))
    taken = ledger.issue("token", "first")
    ledger._secrets[Ledger(bytes(32)).issue("token", "second")] = "another that came before"

    longer = ledger.issue("token", "second")

    assert len(longer) == len(taken) + 1
    assert PLACEHOLDER.fullmatch(longer)
    assert ledger.issue("token", "second") == longer


def test_restore_needs_the_file_it_was_read_in() -> None:
    """A secret goes back where it was read, and nowhere else."""
    ledger = Ledger(bytes(32))
    placeholder = ledger.issue("token", "s3cret")
    ledger.note_read("/a", placeholder, "s3cret")

    assert ledger.restore(f"x={placeholder}", "/a") == ("x=s3cret", ())
    assert ledger.restore(f"x={placeholder}", "/b") == (f"x={placeholder}", (placeholder,))


def test_placeholder_that_was_the_files_own_text_stays() -> None:
    """A file that quotes a placeholder of another session can be edited."""
    ledger = Ledger(bytes(32))
    foreign = "[redacted:token:0123abcd]"
    assert ledger.restore(foreign, "/a") == (foreign, (foreign,))

    ledger.note_read("/a", foreign, foreign)

    assert ledger.restore(foreign, "/a") == (foreign, ())


def test_placeholder_with_two_meanings_in_a_file_stays_unresolved() -> None:
    """Nothing is guessed, not even after a third reading."""
    ledger = Ledger(bytes(32))
    placeholder = ledger.issue("token", "s3cret")
    for text in ("s3cret", placeholder, "s3cret"):
        ledger.note_read("/a", placeholder, text)

    assert ledger.restore(placeholder, "/a") == (placeholder, (placeholder,))


def test_text_without_placeholder_is_restored_as_it_is() -> None:
    """Most writes hold none."""
    assert Ledger(bytes(32)).restore("plain [redacted] text", "/a") == ("plain [redacted] text", ())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ANTHROPIC_API_KEY", "anthropic-api-key"),
        ("--", "secret"),
        ("Ü x", "x"),
        ("a" * 80, "a" * 48),
    ],
)
def test_name_becomes_a_kind(name: str, kind: str) -> None:
    """Any name can stand in a placeholder."""
    assert kind_from(name) == kind
