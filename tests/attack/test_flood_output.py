"""A command prints without end."""

import resource
import time

import pytest

from tests.support.boxes import MIB

pytestmark = pytest.mark.docker


def test_endless_output_ends_as_an_error_of_its_call(stage):
    """Output has a budget; what is kept of it is small, and the session goes on."""

    async def scene(scene):
        flooded = await scene.run("yes", 60.0)
        return flooded, await scene.output("echo next")

    flooded, following = stage.play(scene)
    print("tried inside:", flooded.data["total_bytes"], flooded.data["limit"])

    assert flooded.data["total_bytes"] > MIB
    assert flooded.data["limit"] in {"output", "disk"}
    assert len(flooded.data["head"]) + len(flooded.data["tail"]) <= 50_000
    assert following == "next\n"


def test_streamed_flood_keeps_the_host_small(stage):
    """A hundred megabytes pass through without being held."""

    async def scene(scene):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        seen = [0]

        def count(text):
            seen[0] += len(text)

        outcome = await scene.run("head -c 100000000 /dev/zero | tr '\\0' x", 60.0, count)
        return outcome, seen[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    outcome, seen, grown_kib = stage.play(scene)

    assert outcome.data["total_bytes"] == seen == 100_000_000
    assert grown_kib < 16 * 1024


def test_slow_reader_holds_the_writer_back(stage):
    """The box sends no more than the window ahead of a host that is slow to read."""

    async def scene(scene):
        pieces = []

        def slow(text):
            time.sleep(0.002)
            pieces.append(text)

        outcome = await scene.run("seq 1 300000", 60.0, slow)
        return outcome, "".join(pieces)

    outcome, text = stage.play(scene)

    assert text == "".join(f"{n}\n" for n in range(1, 300_001))
    assert outcome.data["total_lines"] == 300_000
