import io
import tarfile

import pytest

from orchestrator.engine.layer_files import pack_layer
from orchestrator.engine.user_files import BoxUser
from orchestrator.errors import EngineError
from tests.support.images import archive_of

USER = BoxUser(1001, 50, "agent", "/home/agent", "/sh")
RUNTIME = {"glovebox": None, "glovebox/ld.so": b"\x7fELF"}


def members(runtime):
    packed = io.BytesIO()
    source = None if runtime is None else io.BytesIO(archive_of(runtime))
    pack_layer(packed, USER, [("/etc/passwd", b"agent")], runtime=source, workdir="/workspace")
    with tarfile.open(fileobj=packed) as archive:
        return [(entry.name, entry.isdir(), entry.mode, entry.uid) for entry in archive]


def test_layer_holds_the_runtime_the_places_and_the_names():
    """A plain file goes before a directory of ours, so that nothing old of that name stays."""
    assert members(RUNTIME) == [
        ("opt", True, 0o755, 0),
        ("opt/glovebox", False, 0o644, 0),
        ("opt/glovebox", True, 0o755, 0),
        ("opt/glovebox/ld.so", False, 0o755, 0),
        ("glove", False, 0o644, 0),
        ("glove", True, 0o700, 0),
        ("glove/s", True, 0o700, 0),
        ("home", True, 0o755, 0),
        ("home/agent", True, 0o755, 1001),
        ("workspace", True, 0o755, 1001),
        ("etc/passwd", False, 0o644, 0),
    ]


def test_shipped_image_gets_no_second_runtime():
    """There it is already."""
    assert not [name for name, *_ in members(None) if name.startswith("opt")]


def test_link_in_the_runtime_is_refused():
    """We made none; one would lead out of what is proved."""
    with pytest.raises(EngineError, match="no plain file"):
        members(RUNTIME | {"glovebox/python3": "/usr/bin/python3"})
