import json

import anyio
import pytest

from orchestrator.engine.containers import (
    attach,
    create_container,
    remove_container,
    start_container,
)
from orchestrator.engine.labels import owner_label
from orchestrator.errors import BoxError
from orchestrator.sandbox.connection import Connection
from orchestrator.sandbox.container_spec import Ground, container_options
from orchestrator.sandbox.heart import Heart
from orchestrator.sandbox.hello import VERSION, hello_bytes
from tests.attack.test_make_refused_calls import PROFILE
from tests.support.boxes import small_spec

pytestmark = pytest.mark.docker


def greeted(engine, image, change):
    """Greet a server with a hello of the test's, and return how it ended."""
    spec = small_spec(image)
    options = container_options(spec, Ground(owner_label(), PROFILE.read_text(), None))
    container = create_container(engine, f"glovebox-{spec.session}", options)
    try:

        async def scene():
            connection = Connection(attach(engine, container), Heart())
            start_container(engine, container)
            hello = json.loads(hello_bytes(spec, (), token="t", has_socket=False))
            try:
                await connection.greet(json.dumps({**hello, **change}).encode(), None)
            finally:
                connection.close()

        anyio.run(scene)
    finally:
        remove_container(engine, container)


def test_host_of_another_version_is_turned_away(engine, sandbox_image):
    """Host and image must fit; the reason is in the message."""
    with pytest.raises(BoxError, match=f"speaks version {VERSION}, the host 1"):
        greeted(engine, sandbox_image, {"version": 1})


def test_root_is_turned_away(engine, sandbox_image):
    """Not even its own host can make the server run commands as root."""
    with pytest.raises(BoxError, match="never run as root"):
        greeted(engine, sandbox_image, {"uid": 0})


def test_fitting_hello_is_answered(engine, sandbox_image):
    """The same path works when nothing is wrong."""
    greeted(engine, sandbox_image, {})
