"""What a word may become."""

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from orchestrator.cli.chat.completion import MOST, LineCompleter


@pytest.fixture
def complete(tmp_path):
    for name in ("src/main.py", "src/.hidden", "setup.py", "with blank", "b\x1b[2Jad"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (tmp_path / "out").symlink_to("/")
    completer = LineCompleter({"tree": "t", "thinking": "h", "quit": "q"}, lambda: tmp_path)

    def offered(line):
        found = completer.get_completions(Document(line), CompleteEvent())
        return [line[: len(line) + each.start_position] + each.text for each in found]

    return offered


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("/t", ["/tree ", "/thinking "]),
        ("/", ["/tree ", "/thinking ", "/quit "]),
        ("//t", []),
        ("say /t", []),
        ("/tree x", []),
        ("look at @s", ["look at @setup.py", "look at @src/"]),
        ("@src/", ["@src/main.py"]),
        ("@src/.", ["@src/.hidden"]),
        ("@b", []),
        ("@w", []),
        ("@../", []),
        ("@/", []),
        ("@none/", []),
        ("@out", ["@out"]),
        ("mail@s", []),
        ("@src/ ", []),
        ("", []),
    ],
)
def test_commands_and_paths(complete, line, offered):
    """A command only at the beginning, a path only within the directory and after @."""
    assert complete(line) == offered


def test_large_folder_offers_a_part(complete, tmp_path):
    for number in range(MOST + 10):
        (tmp_path / f"many{number}").write_text("")

    assert len(complete("@many")) == MOST


def test_without_a_directory_no_paths_are_offered():
    completer = LineCompleter({}, lambda: None)

    assert list(completer.get_completions(Document("@s"), CompleteEvent())) == []
