"""Several heredocs on one line."""

import pytest

from orchestrator.shell.double_heredocs import part_heredocs
from tests.support.shell_reading import risks

BOTH = "cat <<'A' > a.txt && cat <<'B' > b.txt\nit's $(git push)\nA\nrm -rf /\nB\n"


def test_both_become_here_strings():
    """The bodies stand where their marks were; what follows keeps its place."""
    data, edits = part_heredocs(b"cat <<A; tac <<B\nx\nA\ny\nB\nls\n")

    assert data == b"cat <<< 'x'; tac <<< 'y'\nls\n"
    assert edits[-1].shift == len(b"cat <<A; tac <<B\nx\nA\ny\nB\n") - data.index(b"ls")


@pytest.mark.parametrize(
    "text",
    [
        "cat <<A\nx\nA\n",
        "cat <<A; cat <<B\nx\nA\ny\n",
        "cat <<A; cat <<B\n$(x)\nA\ny\nB\n",
        "cat <<A; cat <<B\n`x`\nA\ny\nB\n",
        'echo "`x`"; cat <<A; cat <<B\nx\nA\ny\nB\n',
        "echo $((1 << 2 << 3))\nA\nB\n",
    ],
)
def test_what_is_not_plain_is_left_alone(text):
    """One heredoc needs no help; expansions and open ends get none."""
    assert part_heredocs(text.encode()) == (text.encode(), [])


def test_quoted_bodies_are_data():
    """Files written from two heredocs are no reason to ask."""
    assert risks(BOTH) == set()


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("cat <<A; sh <<B\nls\nA\ngit push\nB\n", "publishes"),
        ("cat <<A <<B | sh\nls\nA\ngit push\nB\n", "publishes"),
        ("cat <<A; sh <<-'B'\nx\nA\n\tgit push\n\tB\nls", "publishes"),
        ("cat <<'A' > a.sh && cat <<'B' > b\ngit push\nA\nx\nB\nsh a.sh", "publishes"),
        ("cat <<A; cat <<B\nx\nA\ny\nB\ngit push", "publishes"),
        ("cat <<A; cat <<B\n$(git push)\nA\ny\nB\n", "opaque"),
    ],
)
def test_a_body_that_runs_is_judged(command, risk):
    """The second heredoc is read as carefully as the first."""
    assert risk in risks(command)


def test_the_last_heredoc_feeds():
    """bash gives a command the last of its inputs."""
    assert risks("cat <<A <<B | sh\ngit push\nA\nls\nB\n") == set()
