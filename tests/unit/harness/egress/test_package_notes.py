"""Packages on their way through the whole way out of a scripted box."""

import hashlib

import pytest

from orchestrator.egress.packages.client import Announced, Link, Named
from orchestrator.schema.packages import PackagePlace
from tests.support.upstream import upstream
from tests.unit.harness.egress.test_way import GET, way

pytestmark = pytest.mark.anyio
PLACE = PackagePlace("apt", "http", "docs.acme.example", 80, "/")
NETWORK = {"default": "deny", "packages": ["apt"]}
DEB = GET.replace(b"/a ", b"/pool/h/hello_2.10-3_amd64.deb ")


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_package_that_passes_is_noted_with_its_digest(tmp_path):
    """By what its address says it is, and the record of the request that it came by."""
    async with (
        upstream("docs.acme.example") as far,
        way(tmp_path, NETWORK, far.net, packages=[PLACE]) as opened,
    ):
        answer = await opened.box.way_out.converse(DEB)
        refused = await opened.box.way_out.converse(DEB.replace(b"GET ", b"PUT ", 1))

    (noted,) = opened.bodies("artefact")
    body = answer.partition(b"\r\n\r\n")[2]
    assert (noted["name"], noted["version"]) == ("hello", "2.10-3")
    assert (noted["size"], noted["sha256"]) == (len(body), hashlib.sha256(body).hexdigest())
    assert noted["egress"] == opened.bodies("egress_end")[0]["egress"]
    assert b"fetched with GET and HEAD alone" in refused


async def test_other_bytes_than_announced_are_told_to_the_person(tmp_path):
    """The record has it too; the client decides for itself."""
    async with (
        upstream("docs.acme.example") as far,
        way(tmp_path, NETWORK, far.net, packages=[PLACE]) as opened,
    ):
        link = Link("", Named("hello", "2.10-3", "hello_2.10-3_amd64.deb"), ("sha256:00",))
        opened.parts.packages.learn("apt", Announced([link]))
        await opened.box.way_out.converse(DEB)

    assert opened.bodies("artefact")[0]["matches"] is False
    assert "MISMATCH: the index announced sha256:00" in opened.notes[-1]
