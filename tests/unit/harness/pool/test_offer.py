"""What goes over the wire with a box is checked before anything of it is believed."""

import json
import os

import pytest

from orchestrator.errors import BoxError
from orchestrator.harness.pool.offer import pack, unpack


@pytest.mark.parametrize("count", [0, 2])
def test_offer_with_parts_missing_is_refused_and_closed(offer, count):
    """Nothing stays open."""
    note, _ = pack(offer)
    pipes = [os.dup(1) for _ in range(count)]

    with pytest.raises(BoxError, match="does not fit"):
        unpack(note, pipes)

    for fd in pipes:
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(fd)


def test_note_of_another_form_is_refused(offer):
    """Unknown fields too: a box is taken over as it is understood, or not at all."""
    note = json.loads(pack(offer)[0])

    for change in ({"session": "../../etc"}, {"latest": "7"}, {"more": 1}):
        with pytest.raises(BoxError):
            unpack(json.dumps(note | change).encode(), [])
