"""Each situation of the sessions' corpus is held by a test that names it, wherever that stands."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.support.case_marks import Marks, read_marks

TESTS = Path(__file__).parents[1]
CASES = [case["id"] for case in yaml.safe_load((TESTS / "cases" / "session.yaml").read_text())]
HOLDS = '@pytest.mark.case("a-1")\ndef test_a():\n    assert 1\n'


@pytest.fixture(scope="module")
def marks() -> Marks:
    found = Marks()
    for path in sorted(TESTS.rglob("test_*.py")):
        read_marks(found, path.read_text(), str(path.relative_to(TESTS)))
    return found


def test_every_case_has_a_test(marks: Marks) -> None:
    """A case that nobody plays is a promise that nobody keeps."""
    assert sorted(set(CASES) - {case for case, _ in marks.held}) == []
    assert [case for case, count in Counter(CASES).items() if count > 1] == []
    assert len(CASES) > 60


def test_every_mark_names_a_case(marks: Marks) -> None:
    """A slip of the pen would leave a case without its test, or keep a test of none."""
    assert [(case, test) for case, test in marks.held if case not in CASES] == []
    assert marks.faults == []


def test_mark_is_read_with_its_test() -> None:
    found = Marks()
    read_marks(found, HOLDS, "test_x.py")

    assert (found.held, found.faults) == ([("a-1", "test_x.py::test_a")], [])


def test_mark_of_one_parameter_counts() -> None:
    found = Marks()
    params = '[pytest.param(1, marks=pytest.mark.case("a-1")), 2]'
    read_marks(found, f'@pytest.mark.parametrize("n", {params})\ndef test_a(n): assert n\n', "x")

    assert (found.held, found.faults) == ([("a-1", "x::test_a")], [])


@pytest.mark.parametrize(
    "source",
    [
        HOLDS.replace("test_a", "helper"),
        HOLDS.replace("assert 1", "pass"),
        HOLDS.replace('"a-1"', "NAME"),
        HOLDS.replace('"a-1"', ""),
        "@pytest.mark.skip\n" + HOLDS,
        '@pytest.mark.xfail(reason="x")\n' + HOLDS,
        'pytestmark = pytest.mark.case("a-1")\n',
    ],
    ids=["helper", "nothing asserted", "no name", "empty", "skipped", "expected to fail", "module"],
)
def test_mark_that_holds_nothing_is_a_fault(source: str) -> None:
    found = Marks()
    read_marks(found, source, "x")

    assert len(found.faults) == 1
