import trust


def test_programs_trust_what_the_image_does(tmp_path):
    """At the start, when told so again, and after more was trusted for a while."""
    (tmp_path / "store").write_text("own")
    bundle = tmp_path / trust.BUNDLE
    for _ in range(2):
        trust.begin(str(tmp_path), str(tmp_path / "store"))
        assert bundle.read_text() == "own"
    bundle.unlink()
    bundle.write_text("own and more")
    trust.begin(str(tmp_path), str(tmp_path / "store"))

    assert bundle.read_text() == "own"


def test_image_that_trusts_nobody_has_no_bundle(tmp_path):
    """A client then says that it finds none, as it would without a box."""
    trust.begin(str(tmp_path), str(tmp_path / "store"))

    assert not (tmp_path / trust.BUNDLE).exists()
