"""Services beside a real box."""

import pytest

from orchestrator.engine.containers import find_containers
from orchestrator.engine.labels import SERVICE
from orchestrator.errors import BoxError, EngineError
from orchestrator.sandbox.service_spec import ServiceSpec
from orchestrator.sandbox.services import services_beside

pytestmark = pytest.mark.docker

SERVE = ("python3", "-m", "http.server", "8099", "--bind", "127.0.0.1", "--directory", "/etc")


def beside(scene, *wanted):
    def fail(what, error):
        raise AssertionError(what) from error

    return services_beside(
        scene.spec.session, wanted, engine=scene.engine, box=scene.box, on_left=fail
    )


def services_of(scene):
    return find_containers(scene.engine, session=scene.spec.session, kind=SERVICE)


def test_box_reaches_its_service_and_nothing_else_does(stage):
    """At the box's own loopback; the service has no way out either, and it goes with the session."""

    async def visit(scene):
        web = ServiceSpec("web", stage.image, 8099, command=SERVE)
        async with beside(scene, web) as images:
            assert set(images) == {"web"}
            (container,) = services_of(scene)
            inside = scene.engine.api.exec_create(
                container.id,
                ["bash", "-c", "grep -c . /proc/net/route; cat /proc/net/dev /etc/hosts"],
            )
            network = scene.engine.api.exec_start(inside["Id"]).decode()
            assert network.startswith("1\n")
            assert "eth0" not in network
            assert "127.0.0.1\tlocalhost\n" in network
            assert "passwd" in await scene.output("curl -s http://127.0.0.1:8099/")
        assert services_of(scene) == []

    stage.play(visit, joined=True)


def test_box_cannot_see_or_signal_its_services_processes(stage):
    """They share a network, and nothing else."""

    async def visit(scene):
        web = ServiceSpec("web", stage.image, 8099, command=SERVE)
        async with beside(scene, web):
            assert "http.server" not in await scene.output("ps -ef")

    stage.play(visit, joined=True)


def test_service_that_ends_is_told_with_its_last_words(stage):
    """At once, not after the time-out; and nothing of it stays."""

    async def visit(scene):
        broken = ServiceSpec(
            "db", stage.image, 5432, command=("sh", "-c", "echo no such data; exit 3")
        )
        with pytest.raises(BoxError, match=r"service db: it ended.*\n.*no such data"):
            async with beside(scene, broken):
                pass
        assert services_of(scene) == []

    stage.play(visit, joined=True)


def test_service_that_listens_nowhere_is_not_waited_for_for_ever(stage):
    """The time is the policy's."""

    async def visit(scene):
        mute = ServiceSpec("mute", stage.image, 5432, command=("sleep", "60"), within_s=0.3)
        with pytest.raises(BoxError, match="took no connection in time"):
            async with beside(scene, mute):
                pass
        assert services_of(scene) == []

    stage.play(visit, joined=True)


def test_missing_image_is_named(stage):
    """Nothing is pulled by itself."""

    async def visit(scene):
        with pytest.raises(EngineError, match="nowhere/nothing:1"):
            async with beside(scene, ServiceSpec("db", "nowhere/nothing:1", 5432)):
                pass

    stage.play(visit, joined=True)


def test_no_services_cost_nothing(stage):
    """Not even a look at the engine."""

    async def visit(scene):
        async with beside(scene) as images:
            assert images == {}

    stage.play(visit, joined=True)
