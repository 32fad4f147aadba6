import pytest

from orchestrator.sandbox.exposure import mounts
from orchestrator.sandbox.results import Findings
from orchestrator.schema.mount import Mount
from tests.support.boxes import small_spec
from tests.unit.sandbox.test_posture import GOOD, MOUNTS

DATA = {"target": "/data", "kind": "ext4", "options": "rw,relatime", "propagation": ""}


@pytest.mark.parametrize(
    ("mount", "said"),
    [
        (None, "unexpected: /data; writable: /data"),
        (Mount("volume", "v", "/data"), ""),
        (Mount("bind", "/srv", "/data", read_only=True), "writable: /data"),
    ],
)
def test_mount_is_expected_only_as_it_was_asked_for(mount, said):
    """A mount that should be read-only and is not is as bad as one that nobody asked for."""
    spec = small_spec("image")
    if mount is not None:
        spec = small_spec("image", mounts=(*spec.mounts, mount))

    found = Findings(**{**GOOD, "mounts": [*MOUNTS, DATA]})

    assert mounts(found, spec) == said


def test_many_odd_mounts_are_counted():
    """The first are named, the rest counted."""
    odd = [{**DATA, "target": f"/odd{n}", "options": "ro"} for n in range(8)]

    said = mounts(Findings(**{**GOOD, "mounts": [*MOUNTS, *odd]}), small_spec("image"))

    assert said == "unexpected: /odd0, /odd1, /odd2, /odd3, /odd4 and 3 more"


def test_volume_of_the_image_is_expected_read_only():
    """The engine makes it without being asked."""
    closed = Findings(**{**GOOD, "mounts": [*MOUNTS, {**DATA, "options": "ro"}]})
    open_one = Findings(**{**GOOD, "mounts": [*MOUNTS, DATA]})

    assert mounts(closed, small_spec("image"), ["/data"]) == ""
    assert mounts(open_one, small_spec("image"), ["/data"]) == "writable: /data"
