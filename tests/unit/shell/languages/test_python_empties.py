"""Python that empties files."""

import pytest

from orchestrator.shell.languages.python_code import read_python


@pytest.mark.parametrize(
    "code",
    [
        "open('a', 'w')",
        "open('a', mode='wb').close()",
        "with open('a', 'w') as f: pass",
        "f = open('a', 'w')\nf.close()",
        "from pathlib import Path\nPath('a').open('w')",
        "from pathlib import Path\nPath('a').write_text('')",
        "open('a', 'w').write('')",
        "import io\nio.open('a', 'w')",
    ],
)
def test_emptied_file_is_found(code):
    """Opening for writing and leaving it is ``> file``."""
    assert "destructive" in {effect.kind for effect in read_python(code)}


@pytest.mark.parametrize(
    "code",
    [
        "open('a')",
        "open('a', 'a').close()",
        "open('a', 'w').write('x')",
        "with open('a', 'w') as f: f.write('x')",
        "f = open('a', 'w')\nprint(1, file=f)\nf.close()",
        "import json\njson.dump({}, open('a', 'w'))",
        "x.write('')",
    ],
)
def test_written_file_is_no_emptied_one(code):
    """Writing files is what the work is."""
    assert "destructive" not in {effect.kind for effect in read_python(code)}
