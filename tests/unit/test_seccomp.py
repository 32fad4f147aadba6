import importlib.util
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "sandbox-image"


@pytest.fixture(scope="module")
def table():
    spec = importlib.util.spec_from_file_location("seccomp_table", FOLDER / "seccomp.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def profile():
    return json.loads((FOLDER / "seccomp.json").read_text())


def test_profile_is_made_from_the_table(table, profile):
    """``python3 sandbox-image/seccomp.py > sandbox-image/seccomp.json`` was run."""
    assert table.profile() == profile


def test_what_is_not_listed_is_refused(profile):
    """The list says what may be done, so that a new call of the kernel is not let in by itself."""
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"


def test_no_call_is_listed_twice(table):
    """A name that stands in two places would outlive its removal from one."""
    lists = (table.FILES, table.WAITING, table.MEMORY, table.PROCESSES, table.SOCKETS)
    names = [name for text in lists for name in text.split()]

    assert len(names) == len(set(names))


def test_other_entry_points_have_no_rules(profile):
    """32-bit and x32 programs would pass by every condition on an argument."""
    assert all(entry["subArchitectures"] == [] for entry in profile["archMap"])


def test_sockets_are_let_through_by_condition_only(profile):
    """No rule lets every family through."""
    rules = [rule for rule in profile["syscalls"] if "socket" in rule["names"]]

    assert rules
    assert all(rule["args"] for rule in rules)
    assert {rule["args"][0]["value"] for rule in rules} == {1, 2, 10, 16}


def test_the_kernels_audit_looks_absent(profile):
    """No rule lets it through, and useradd goes on without it."""
    rules = [rule for rule in profile["syscalls"] if "socket" in rule["names"]]
    audit = [
        rule for rule in rules if {"index": 2, "value": 9, "op": "SCMP_CMP_EQ"} in rule["args"]
    ]

    assert [(rule["action"], rule["errnoRet"]) for rule in audit] == [("SCMP_ACT_ERRNO", 93)]


def test_every_ioctl_but_two_is_let_through(table):
    """The rules together say "not equal" in 32 bits, whatever the higher bits are."""

    def allowed(number):
        return any(
            number & rule["args"][0]["value"] == rule["args"][0]["valueTwo"]
            for rule in table.terminals()
        )

    refused = (table.TIOCSTI, table.TIOCLINUX)
    near = {number ^ 1 << bit for number in refused for bit in range(32)} - set(refused)

    assert not any(allowed(number | high << 32) for number in refused for high in (0, 1, 5))
    assert all(allowed(number) for number in {*range(0x5400, 0x5500), *near} - set(refused))
