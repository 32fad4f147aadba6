"""A notice by the person's own command."""

import sys

import anyio
import pytest

from orchestrator.confirmation.notice import NoticeCommand, notice_text
from tests.support.asking import question


def tell(command, notes=None):
    made = NoticeCommand(command, note=(notes if notes is not None else []).append)
    anyio.run(made.tell, question("git push $(id) `id`; id"))


def test_command_gets_the_text_as_one_argument(tmp_path):
    """No shell reads it, and nothing in it is the model's."""
    file = tmp_path / "told"
    tell([sys.executable, "-c", f"import sys; open({str(file)!r}, 'w').write(sys.argv[-1])"])

    asked = question("git push $(id) `id`; id")
    assert file.read_text() == notice_text(asked)
    assert "git push" not in notice_text(asked)
    assert asked.id in notice_text(asked)


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (["/nonexistent/notify"], "No such file"),
        ([sys.executable, "-c", "exit(3)"], "ended with 3"),
    ],
)
def test_command_that_does_not_work_is_told(command, word):
    """The question waits all the same."""
    notes = []
    tell(command, notes)

    assert word in notes[0]
