import gzip

import pytest

from orchestrator.engine.changelogs import read_changelogs

TEXT = "runc (1.1.5+ds1-1+deb12u1) bookworm-security; urgency=high\n\n  * CVE-2024-21626\n"


@pytest.fixture
def documents(tmp_path):
    (tmp_path / "runc").mkdir()
    (tmp_path / "runc" / "changelog.Debian.gz").write_bytes(gzip.compress(TEXT.encode()))
    return tmp_path


@pytest.mark.parametrize(
    ("components", "found"),
    [
        ({"runc": "1.1.5+ds1-1+deb12u1"}, {"runc": TEXT}),
        ({"runc": "1.1.5+ds1-1"}, {}),
        ({"runc": ""}, {}),
        ({"containerd": "1.6.20"}, {}),
        ({"../runc": "1.1.5+ds1-1+deb12u1"}, {}),
    ],
)
def test_changelog_counts_for_its_own_version_alone(documents, components, found):
    """An engine that was not restarted since an update is the old one still."""
    assert read_changelogs(components, root=documents) == found


def test_broken_changelog_is_none(documents):
    """It cannot show a fix."""
    (documents / "runc" / "changelog.Debian.gz").write_bytes(b"\x1f\x8bbroken")

    assert read_changelogs({"runc": "1.1.5+ds1-1+deb12u1"}, root=documents) == {}
