"""The golden chain: what earlier versions wrote still verifies, and is still what is written."""

from pathlib import Path

from orchestrator.audit.verify import verify_file
from tests.golden.generate_audit import CHAIN, HERE, PUBLIC_KEY, golden_files, write_golden


def test_fresh_chain_is_the_golden_one_byte_for_byte(tmp_path: Path) -> None:
    """Same key, same times, same events: same bytes."""
    write_golden(tmp_path)

    assert golden_files(tmp_path) == golden_files(HERE)


def test_golden_chain_verifies_with_its_key() -> None:
    """A chain once written stays readable."""
    verdict = verify_file(HERE / CHAIN, key=(HERE / PUBLIC_KEY).read_text().strip())

    assert str(verdict) == "intact, closed"
    assert verdict.interrupted == (("c2", 3),)
