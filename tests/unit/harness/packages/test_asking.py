import anyio
import pytest

from orchestrator.config.paths import Paths
from orchestrator.egress.packages.clients import CLIENTS
from orchestrator.engine.images import image_digest
from orchestrator.harness.packages.answers import ClientAnswer
from orchestrator.harness.packages.asking import FoundPackages, ask_clients, find_packages
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.scripted import Reply, ScriptedBox, ScriptedLifecycle
from orchestrator.schema.ids import Digest
from orchestrator.schema.packages import PackagePlace

NPM = '{"registry": "https://r.example/"}'
IMAGE = ("some:image", Digest("sha256:" + "ab" * 32))


class Recording(ScriptedLifecycle):
    """Keeps what boxes were asked for."""

    started = ()

    async def start(self, spec):
        self.started = (*self.started, spec)
        return await super().start(spec)


def commands(**replies):
    return {CLIENTS[name].command: reply for name, reply in replies.items()}


def test_each_client_says_where_it_fetches_from_or_why_not():
    """Nothing is let out for one that does not say it."""
    box = ScriptedBox(
        commands(
            npm=Reply(NPM),
            go=Reply(exit_code=127),
            apt=Reply("E: broken", exit_code=100),
            pip=Reply("usage"),
        )
    )

    found = anyio.run(ask_clients, ["npm", "go", "apt", "pip"], box)

    assert found == {
        "npm": ClientAnswer(("https://r.example:443/",)),
        "go": ClientAnswer(problem="not found in the box"),
        "apt": ClientAnswer(problem="it could not say where it fetches from (exit 100)"),
        "pip": ClientAnswer(problem="its settings cannot be read: pip's help names no index"),
    }
    assert {request.cwd for request in box.requests} == {"/"}


def test_an_image_is_asked_once(tmp_path):
    """The second session needs no box for it; another client does."""
    lifecycle = Recording(commands(npm=Reply(NPM), go=Reply(exit_code=127)), images=("some:image",))
    paths = Paths(tmp_path / "state", tmp_path / "config")

    def find(*wanted):
        return anyio.run(
            lambda: find_packages(wanted, lifecycle, image=IMAGE, ids=(1000, 1000), paths=paths)
        )

    first, again, more = find("npm"), find("npm"), find("npm", "go")

    assert first.places == (PackagePlace("npm", "https", "r.example", 443, "/"),)
    assert first == again
    assert more.lines() == ("network.packages: go: not found in the box",)
    assert len(lifecycle.started) == 2
    spec = lifecycle.started[0]
    assert [(mount.kind, mount.target) for mount in spec.mounts] == [("tmpfs", "/workspace")]
    assert FoundPackages().lines() == ()


@pytest.mark.docker
def test_the_shipped_images_clients_name_their_own_hosts(engine, sandbox_image, tmp_path):
    """pip, npm and apt by their own settings; the others are not in it."""
    paths = Paths(tmp_path / "state", tmp_path / "config")
    lifecycle = DockerLifecycle(engine)
    image = (sandbox_image, image_digest(engine, sandbox_image))

    async def find():
        return await find_packages(
            list(CLIENTS), lifecycle, image=image, ids=(1000, 1000), paths=paths
        )

    found = anyio.run(find)

    assert set(found.problems) == {"cargo", "go", "maven"}
    assert {place.ecosystem for place in found.places} == {"pip", "npm", "apt"}
    assert all(place.host and place.path.endswith("/") for place in found.places)
    assert {place.scheme for place in found.places if place.ecosystem != "apt"} == {"https"}
