"""What files hold after this command wrote them."""

import pytest

from orchestrator.shell.contents import remember
from orchestrator.shell.output import Output
from orchestrator.shell.scope import Content, Places, Scope


@pytest.mark.parametrize(
    ("outputs", "content"),
    [
        ([(Output("text", "a"), False)], Content("text", "a")),
        ([(Output("text", "a"), False), (Output("text", "b"), True)], Content("text", "ab")),
        ([(Output("text", "a"), False), (Output("text", "b"), False)], Content("text", "b")),
        ([(Output("text", "\ufffc"), False)], Content("text", None)),
        ([(Output("download"), False), (Output("text", "a"), True)], Content("download")),
        ([(Output("decoded"), False)], Content("decoded")),
        ([(Output("data"), False)], None),
    ],
)
def test_file_holds_what_was_written_last(outputs, content):
    """Appending adds, writing replaces, unknown data is the work's own."""
    scope = Scope(Places("/home/agent", "/workspace"), "/workspace")
    for output, append in outputs:
        remember("f", output, scope, append=append)
    assert scope.files.get("/workspace/f") == content
