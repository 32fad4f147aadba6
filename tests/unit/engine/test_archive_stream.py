"""Archives out of a container, read whole, in part, or not at all."""

from contextlib import closing

import pytest
from docker.errors import NotFound

from orchestrator.engine.archive_stream import archive_stream
from orchestrator.engine.base_image import BASE
from orchestrator.engine.client import connect
from orchestrator.engine.volumes import copier, remove_volume
from orchestrator.schema.mount import Mount

pytestmark = pytest.mark.docker


@pytest.fixture
def helper(request):
    name = f"glovebox-test-{abs(hash(request.node.name))}"
    with closing(connect()) as engine:
        try:
            with copier(engine, BASE, Mount("volume", name, "/x"), labels={}) as made:
                yield made
        finally:
            remove_volume(engine, name)


def test_file_comes_with_what_the_engine_says_of_it(helper):
    """A tar of one member, and the name."""
    with archive_stream(helper.engine, helper.container, "/etc/hostname") as (chunks, told):
        data = b"".join(chunks)

    assert b"ustar" in data
    assert told["name"] == "hostname"


def test_reader_that_stops_half_way_leaves_no_connection(helper):
    """An archive of a hostile box is not read to its end; a warning of the collector fails this."""
    with archive_stream(helper.engine, helper.container, "/usr") as (chunks, _):
        assert len(next(chunks)) > 0
    next(helper.get("/usr"))
    # What the fixture does next: the engine would wait for the reader before it removes.


def test_missing_path_is_the_sdks_own_error(helper):
    """Callers catch it where it means something."""
    with (
        pytest.raises(NotFound),
        archive_stream(helper.engine, helper.container, "/no/such"),
    ):
        pass
