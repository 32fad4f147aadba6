import anyio
import pytest

from orchestrator.workspace.handover import read_patch
from orchestrator.workspace.patch import MOST_SHOWN

pytestmark = pytest.mark.docker


def test_patch_shows_both_sides_and_counts(any_desk):
    """Text, links, modes and moves; what is no text is named."""
    script = (
        "echo two >> app.py; printf '\\0' > blob; chmod +x run.sh; mv src/mod.py moved.py; "
        f"head -c {MOST_SHOWN + 1} /dev/zero | tr '\\0' x > large; ln -sfn run.sh link; mkfifo f"
    )
    workspace = any_desk.work(script)

    lines, counts = anyio.run(read_patch, workspace, any_desk.look(workspace))
    text = "\n".join(lines)

    assert "+two" in lines
    assert " print('one')" in lines
    assert "/dev/null and b/blob differ: binary" in lines
    assert f"differ: too large to show ({MOST_SHOWN + 1} bytes)" in text
    assert "special file" in text
    assert "new mode 100755" in lines
    assert "rename from src/mod.py" in lines
    assert {"-app.py", "+run.sh"} <= set(lines)
    assert counts["app.py"] == (1, 0)
    assert counts["link"] == (1, 1)
    assert not {"blob", "large", "f", "moved.py"} & counts.keys()
