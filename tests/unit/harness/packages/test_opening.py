from types import SimpleNamespace

import anyio
import pytest

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.egress.packages.clients import CLIENTS
from orchestrator.engine.images import image_digest
from orchestrator.harness.packages.answers import AnswerStore, ClientAnswer
from orchestrator.harness.packages.opening import package_hosts
from orchestrator.policy.load import load_policy
from orchestrator.schema.egress import EgressRequest
from orchestrator.schema.ids import Digest

OTHER = Digest("sha256:" + "ab" * 32)
"""An image that says what a test wants it to."""


class World:
    """What is known of images, and what is told."""

    def __init__(self, tmp_path):
        self.tmp_path, self.said = tmp_path, []
        self.paths = Paths(tmp_path / "state", tmp_path / "config")

    def says(self, image, **urls):
        answers = {name: ClientAnswer((urls[name],)) if name in urls
                   else ClientAnswer(problem="not found in the box") for name in CLIENTS}  # fmt: skip
        AnswerStore(self.paths, image).keep(answers)

    def hosts(self, image, packages, *, project=False):
        file = self.tmp_path / "policy.yaml"
        file.write_text(
            f"version: 1\nname: t\nextends: [default]\nnetwork: {{packages: {packages}}}\n"
        )
        policy = load_policy(
            (str(file),), search=asset("policies"), user_file=self.tmp_path / "none.yaml"
        )
        facts = {"used": "yes"} if project else {}
        governed = SimpleNamespace(policy=policy, project=SimpleNamespace(facts=facts))
        return anyio.run(
            lambda: package_hosts(governed, image, paths=self.paths, note=self.said.append)
        )


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def reaches(hosts, host):
    request = EgressRequest("connect", "https", host, 443)
    return hosts.ecosystem(request, list(CLIENTS)) is not None


def test_a_policy_without_packages_asks_no_image(world):
    """And knows no host."""
    assert world.hosts(OTHER, "[]").places == []


@pytest.mark.docker
def test_what_cannot_be_asked_is_told_where_it_is_wanted(world):
    """A client that policy does not name is of no interest."""
    world.says(OTHER, npm="https://npm.example:443/")

    hosts = world.hosts(OTHER, "[npm, cargo]")

    assert reaches(hosts, "npm.example")
    assert world.said == [
        "network.packages: cargo: not found in the box; nothing is let out for it"
    ]


@pytest.mark.docker
def test_a_projects_image_adds_no_host(world, engine, sandbox_image):
    """Somebody said yes to the image, not to what its clients would reach."""
    layers = {OTHER, image_digest(engine, sandbox_image)}
    world.says(OTHER, pip="https://index.evil.example:443/", npm="https://npm.example:443/")
    # As root the caller is given the uid that the shipped image has a name for.
    world.says(image_digest(engine, sandbox_image), npm="https://npm.example:443/")

    hosts = world.hosts(OTHER, "[npm]", project=True)

    assert len(layers) == 2
    assert not reaches(hosts, "index.evil.example")
    assert [line for line in world.said if "index.evil.example" in line]
