import pytest

from orchestrator.sandbox.posture import posture_of
from orchestrator.sandbox.results import Findings
from tests.support.boxes import LIMITS, small_spec

SPEC = small_spec("image")
STATUS = {
    "CapInh": "0" * 16,
    "CapPrm": "0" * 16,
    "CapEff": "0" * 16,
    "CapBnd": "00000000000000e0",
    "CapAmb": "0" * 16,
    "NoNewPrivs": "1",
    "Seccomp": "2",
    "Uid": "1000\t1000\t1000\t1000",
    "Gid": "1000\t1000\t1000\t1000",
}
REFUSED = dict.fromkeys(("vsock", "raw_socket", "packet_socket", "user_namespace", "root"), True)
GOOD = {
    "status": STATUS,
    "kernel": "6.1",
    "interfaces": ["lo"],
    "routes": 0,
    "root_options": "ro,relatime",
    "root_writes": [],
    "pids_limit": LIMITS.pids,
    "memory_limit": LIMITS.memory,
    "refused": REFUSED,
}


def controls(**changes):
    return posture_of(Findings(**{**GOOD, **changes}), SPEC, {"engine": "24"}).controls


def status(**changes):
    return {"status": {**STATUS, **changes}}


def refused(name):
    return {"refused": {**REFUSED, name: False}}


def test_everything_found_means_everything_holds():
    """The baseline of the cases below."""
    assert set(controls().values()) == {True}


@pytest.mark.parametrize(
    ("missing", "changes"),
    [
        ("seccomp", status(Seccomp="0")),
        ("seccomp", {"status": {k: v for k, v in STATUS.items() if k != "Seccomp"}}),
        ("seccomp", refused("vsock")),
        ("seccomp", refused("raw_socket")),
        ("seccomp", refused("user_namespace")),
        ("seccomp", {"refused": {"root": True}}),
        ("no_new_privileges", status(NoNewPrivs="0")),
        ("no_network", {"interfaces": ["eth0", "lo"]}),
        ("no_network", {"interfaces": []}),
        ("no_network", {"routes": 1}),
        ("non_root", status(Uid="0\t0\t0\t0")),
        ("non_root", status(Uid="1000\t1000\t0\t1000")),
        ("non_root", status(Gid="1000\t1000\t1000\t0")),
        ("non_root", status(Uid="1001\t1001\t1001\t1001")),
        ("non_root", refused("root")),
        ("no_capabilities", status(CapEff="0000000000000080")),
        ("no_capabilities", status(CapAmb="0000000000000001")),
        ("no_capabilities", status(CapPrm="")),
        ("pids_limit", {"pids_limit": None}),
        ("pids_limit", {"pids_limit": LIMITS.pids + 1}),
        ("pids_limit", {"pids_limit": 0}),
        ("memory_limit", {"memory_limit": None}),
        ("memory_limit", {"memory_limit": LIMITS.memory + 4096}),
        ("read_only_root", {"root_options": "rw,relatime"}),
        ("read_only_root", {"root_options": ""}),
        ("read_only_root", {"root_writes": ["/etc/x"]}),
    ],
)
def test_control_that_was_not_seen_does_not_hold(missing, changes):
    """Engines drop options silently, so only what was found inside counts."""
    found = controls(**changes)

    assert found[missing] is False
    assert [name for name, holds in found.items() if not holds] == [missing]


def test_facts_are_kept_for_the_record():
    """What the engine told and what was found stand side by side."""
    posture = posture_of(Findings(**GOOD), SPEC, {"engine": "24"})

    assert posture.facts["engine"] == "24"
    assert posture.facts["uid"] == "1000"
    assert posture.facts["pids_limit"] == str(LIMITS.pids)
