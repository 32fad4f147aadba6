"""Digests."""

from orchestrator.schema.ids import digest_of


def test_digest_is_the_well_known_sha256_with_its_name():
    """Others can check it with their own tools."""
    assert (
        digest_of(b"abc")
        == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
