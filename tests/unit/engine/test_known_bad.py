import pytest

from orchestrator.engine.flaws import FLAWS
from orchestrator.engine.known_bad import is_packaged, judge, judge_components, summary

LEAK = next(flaw for flaw in FLAWS if flaw.id == "CVE-2024-21626")
RACE = next(flaw for flaw in FLAWS if flaw.id == "CVE-2025-31133")
LATE = next(flaw for flaw in FLAWS if flaw.id == "CVE-2025-52881")


@pytest.mark.parametrize(
    ("flaw", "version", "state"),
    [
        (LEAK, "1.1.11", "affected"),
        (LEAK, "1.1.12", "fixed"),
        (LEAK, "v1.1.12-0-g51d5e946", "fixed"),
        (LEAK, "v1.1.11-0-g4bccb38c", "affected"),
        (LEAK, "1.1.12-rc.1", "affected"),
        (RACE, "1.2.7", "affected"),
        (RACE, "1.2.8", "fixed"),
        (RACE, "1.3.0", "affected"),
        (RACE, "1.3.3", "fixed"),
        (RACE, "1.4.0-rc.2", "affected"),
        (RACE, "1.4.0-rc.3", "fixed"),
        (RACE, "1.5.0", "fixed"),
        (LEAK, "1.1.5+ds1-1", "unknown"),
        (LEAK, "1.1.5+ds1-1+deb12u1", "fixed"),
        (LEAK, "1.1.5+ds1-1+deb12u10", "fixed"),
        (LEAK, "1.0.0~rc93+ds1-5+deb11u2", "affected"),
        (LEAK, "1.0.0~rc93+ds1-5+deb11u3", "fixed"),
        (LEAK, "1.1.7-0ubuntu1~22.04.1", "affected"),
        (LEAK, "1.1.7-0ubuntu1~22.04.2", "fixed"),
        (LEAK, "4:1.1.9-1.el9", "unknown"),
        (LEAK, "4:1.1.12-1.el9", "fixed"),
        (RACE, "1.1.15+ds1-2+deb13u1", "fixed"),
        (LATE, "1.1.15+ds1-2+deb13u1", "unknown"),
        (LEAK, "", "unknown"),
        (LEAK, "unknown", "unknown"),
    ],
)
def test_version_is_judged_by_branch_and_revision(flaw, version, state):
    """A number is enough only where nobody could have backported; silence is no pass."""
    assert judge(flaw, version, "").state == state


@pytest.mark.parametrize(
    ("changelog", "state"),
    [
        ("  * CVE-2025-52881: fixed", "fixed"),
        ("  * CVE-2025-528810", "affected"),
        ("x", "affected"),
    ],
)
def test_changelog_of_the_package_shows_a_backport(changelog, state):
    """What is installed here tells itself what it fixes."""
    assert judge(LATE, "1.1.15+ds1-2+deb13u1", changelog).state == state


def test_changelog_does_not_excuse_an_upstream_version():
    """Text that belongs to no package proves nothing."""
    assert judge(LEAK, "1.1.11", "CVE-2024-21626").state == "affected"


def test_only_the_runtime_in_use_and_containerd_count():
    """Flaws of a runtime that is merely installed reach no box."""
    versions = {"runc": "1.1.11", "containerd": "1.6.0"}

    components = {j.flaw.component for j in judge_components(versions, {}, runtime="runsc")}

    assert components == {"containerd"}


def test_runtime_that_tells_no_version_may_have_every_flaw():
    """Podman without an answer of its runtime is not taken for clean."""
    judged = judge_components({}, {}, runtime="runc")

    assert {item.state for item in judged} == {"unknown"}
    assert summary(judged).startswith("may have runc CVE-")


def test_summary_tells_having_from_maybe_having():
    """One line, for a table."""
    judged = judge_components({"runc": "1.3.2", "containerd": "1.7.24~ds1-1"}, {}, runtime="runc")

    assert "has runc CVE-2025-31133" in summary(judged)
    assert "may have containerd CVE-2024-25621" in summary(judged)


def test_every_flaw_can_be_judged():
    """A fixed version that the judge cannot read would never be reached."""
    for flaw in FLAWS:
        assert judge(flaw, flaw.fixed[-1], "").state == "fixed", flaw.id
        assert judge(flaw, "0.0.1", "").state == "affected", flaw.id
        for revision in flaw.backports.values():
            assert is_packaged(revision), revision
            assert judge(flaw, revision, "").state == "fixed", revision
