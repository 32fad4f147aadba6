"""A world of its own for every end-to-end test."""

import pytest

from orchestrator.engine.client import connect
from orchestrator.engine.images import ensure_sandbox_image
from tests.support.terminals import Seat
from tests.support.workspaces import drop_homes
from tests.support.world import World


@pytest.fixture(scope="session", autouse=True)
def image(tmp_path_factory):
    engine = connect()
    try:
        yield ensure_sandbox_image(engine, lambda _: None).name
    finally:
        drop_homes(engine, tmp_path_factory.getbasetemp())
        engine.close()


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    made.project.mkdir()
    (made.project / "notes.txt").write_text("one\ntwo\n")
    yield made
    for work in (made.state / "work").glob("*"):
        dropped = made.run("discard", work.name)
        assert dropped.code == 0, dropped.err
    swept = made.run("gc")
    assert swept.code == 0, swept.err


@pytest.fixture
def sit(world):
    """Seat people at terminals, and get them up again."""
    seats = []

    def down(*arguments, **options):
        seats.append(Seat(world, *arguments, **options))
        return seats[-1]

    yield down
    for seat in seats:
        seat.close()
