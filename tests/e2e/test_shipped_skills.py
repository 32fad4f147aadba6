"""The shipped skills at work: what their texts ask for can be done, and what they rule out cannot."""

import subprocess

import pytest

from tests.support.workspaces import give
from tests.support.world import bash, call

pytestmark = pytest.mark.docker

TEST = """import unittest, prices


class Price(unittest.TestCase):
    def test_price(self):
        self.assertEqual(80, prices.price(100))
"""
OLD = "DISCOUNT = 0.2\n\n\ndef price(full):\n    return full * (1 - DISCOUNT)\n"


def git(world, *words):
    subprocess.run(["git", *words], cwd=world.project, check=True, capture_output=True)


@pytest.fixture
def repository(world):
    """Two commits and a staged change that breaks the test."""
    git(world, "init", "-q", "-b", "main")
    # Whoever runs the tests may have no identity of their own.
    git(world, "config", "user.name", "A")
    git(world, "config", "user.email", "a@b.example")
    for name, text in (("prices.py", OLD), ("test_prices.py", TEST)):
        (world.project / name).write_text(text)
        git(world, "add", ".")
        git(world, "commit", "-qm", f"prices: add {name}")
    (world.project / "prices.py").write_text(OLD.replace("0.2", "0.1"))
    git(world, "add", ".")
    give(world.project)
    return world


def worked(world, skill, *turns):
    """Run turns under a skill; gives whether each call was an error, and its output."""
    model = world.script(*turns, {"text": "done"})
    ended = world.run("run", f"/skill {skill} go", "-m", model, "--json")
    assert ended.code == 0, ended.err
    assert [event["skill"] for event in ended.of("skill_change")] == [skill]
    return [(end["is_error"], end["output"]) for end in ended.of("tool_end")]


def test_review_reads_and_tries_and_changes_nothing(repository):
    done = worked(
        repository,
        "review",
        bash("git status --short; git diff; git diff --staged; git log main..HEAD"),
        bash("git diff HEAD~1...HEAD && git log --oneline -5 && git show HEAD"),
        call("read", path="prices.py"),
        call("read", path="/skills/review/references/security.md"),
        bash("cat > /tmp/try.py <<'EOF'\nimport prices\nprint(prices.price(100))\nEOF"),
        bash("PYTHONPATH=. python3 /tmp/try.py; python3 -m unittest 2>&1 | tail -1"),
    )
    refused = worked(
        repository,
        "review",
        call("write", path="prices.py", content=""),
        call("edit", path="prices.py", edits=[{"oldText": "0.1", "newText": "0.2"}]),
        bash("git stash"),
        bash("git commit -m x"),
    )

    assert [is_error for is_error, _ in done] == [False] * 6, done
    assert "-DISCOUNT = 0.2" in done[0][1]
    assert "90.0\nFAILED (failures=1)" in done[5][1]
    assert [is_error for is_error, _ in refused] == [True] * 4, refused
    assert "a review changes nothing" in refused[2][1]


def test_debug_goes_from_the_failure_to_a_proved_cause(repository):
    """All eight steps, history and the reference among them."""
    done = worked(
        repository,
        "debug",
        bash("python3 -m unittest 2>&1 | tail -4"),
        bash("git log -S 'DISCOUNT = 0.2' --oneline; git diff HEAD"),
        call("read", path="/skills/debug/references/hard-cases.md"),
        bash("python3 -X faulthandler -c 'import prices; assert prices.DISCOUNT == 0.1'"),
        bash(
            "git stash -q && git bisect start HEAD HEAD~1 "
            "&& git bisect run sh -c '! test -e test_prices.py' && git bisect reset"
        ),
        bash("git stash pop && for i in $(seq 20); do python3 -m unittest -q 2>&1 | tail -1; done"),
        # Of another length: within one second Python knows a changed source by that alone.
        call("edit", path="prices.py", edits=[{"oldText": "0.1", "newText": "0.20"}]),
        bash("python3 -m unittest && git diff HEAD --stat"),
    )

    assert [is_error for is_error, _ in done] == [False] * 8, done
    assert "is the first bad commit" in done[4][1]
    assert "OK" in done[7][1]


def test_commit_message_is_written_and_committed_and_never_pushed(repository):
    done = worked(
        repository,
        "commit-message",
        bash("git status --short; git diff --staged"),
        bash("git log -15 --format='%s%n%b%n---'"),
        bash("cat > /tmp/message <<'EOF'\nprices: lower the discount to 10 %\nEOF"),
        bash("git commit -q -F /tmp/message && git log -1 --format=%s"),
    )
    refused = worked(
        repository,
        "commit-message",
        bash("git push origin HEAD"),
        call("write", path="prices.py", content=""),
    )

    assert [is_error for is_error, _ in done] == [False] * 4, done
    assert "prices: lower the discount to 10 %" in done[3][1]
    assert [is_error for is_error, _ in refused] == [True] * 2, refused
    assert "publishes nothing" in refused[0][1]
