"""Package clients that the box's image lacks, as this machine has them, against servers of our own."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile

import anyio
import pytest

from orchestrator.config.assets import asset
from orchestrator.egress.packages.clients import CLIENTS
from orchestrator.egress.packages.hosts import PackageHosts
from orchestrator.egress.packages.watch import PackageWatch
from orchestrator.egress.proxy import Proxy
from orchestrator.egress.scripted import ScriptedGatekeeper
from orchestrator.egress.session_tls import SessionTls
from orchestrator.egress.tls.authority import Authority
from orchestrator.egress.tls.upstream import upstream_context
from orchestrator.harness.packages.answers import places_in, read_answer
from orchestrator.policy.judge_egress import EgressRules
from orchestrator.policy.load import load_policy
from orchestrator.schema.ids import SessionId
from orchestrator.schema.way_out import Incoming
from tests.support.certificates import ServerAuthority
from tests.support.egress_scene import listening
from tests.support.upstream import upstream

HOSTS = ("index.example", "static.example", "evil.example")
CARGO = shutil.which("cargo")
MAVEN = shutil.which("mvn")


def crate():
    """The bytes of a crate named tiny."""
    buffer = io.BytesIO()
    files = {
        "Cargo.toml": b'[package]\nname = "tiny"\nversion = "1.0.0"\nedition = "2021"\n',
        "src/lib.rs": b"",
    }
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"tiny-1.0.0/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def line(checksum):
    row = {
        "name": "tiny",
        "vers": "1.0.0",
        "deps": [],
        "cksum": checksum,
        "features": {},
        "yanked": False,
    }
    return json.dumps(row).encode()


class Registry:
    """A sparse index, and the crates that lie on another server."""

    def __init__(self, pages):
        self.pages = pages

    async def answer(self, head, _reader, writer):
        path = head.split(b" ")[1].decode()
        body = self.pages.get(path)
        status = b"200 OK" if body is not None else b"404 Not Found"
        writer.write(
            b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
            % (status, len(body or b""))
        )
        writer.write(body or b"")
        await writer.drain()


@pytest.fixture
def home(tmp_path):
    """A project that needs one crate, and settings that name an index."""
    settings = tmp_path / "cargo"
    settings.mkdir()
    (settings / "config.toml").write_text(
        '[source.crates-io]\nreplace-with = "own"\n'
        '[source.own]\nregistry = "sparse+https://index.example/"\n[net]\nretry = 0\n'
    )
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "lib.rs").write_text("")
    (project / "Cargo.toml").write_text(
        '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ntiny = "1"\n'
    )
    return tmp_path


def environment(home, **more):
    kept = {
        name: os.environ[name] for name in ("PATH", "HOME", "RUSTUP_HOME") if name in os.environ
    }
    return {**kept, "CARGO_HOME": str(home / "cargo"), **more}


def asked(client, env):
    """What a client of this machine answers, without a network where that can be."""
    done = subprocess.run(
        ["/bin/sh", "-c", CLIENTS[client].command], env=env, cwd="/", capture_output=True, text=True,
        timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return read_answer(CLIENTS[client], done.stdout)


class Fetch:
    """One ``cargo fetch`` through a real proxy under ``network.packages: [cargo]``."""

    def __init__(self, home, pages):
        self.home, self.pages = home, pages
        self.artefacts = []

    def rules(self, hosts):
        file = self.home / "policy.yaml"
        file.write_text("version: 1\nname: t\nnetwork: {default: deny, packages: [cargo]}\n")
        policy = load_policy(
            (str(file),), search=asset("policies"), user_file=self.home / "none.yaml"
        )
        return EgressRules(policy, hosts)

    async def run(self):
        answer = await anyio.to_thread.run_sync(asked, "cargo", environment(self.home))
        hosts = PackageHosts(places_in({"cargo": answer}))
        authority, company = Authority(SessionId("abc")), ServerAuthority()
        (self.home / "authority.pem").write_text(authority.certificate)
        self.gate = ScriptedGatekeeper(self.rules(hosts).judge)
        watch = PackageWatch(hosts, lambda _, found: self.artefacts.append(found), print)
        tls = SessionTls(authority, upstream_context(company.pem))
        registry = Registry(self.pages)
        context = company.server_context(self.home, *HOSTS)
        async with (
            upstream(*HOSTS, ports=(443,), answer=registry.answer, tls=context) as far,
            anyio.create_task_group() as tasks,
        ):
            proxy = Proxy(self.gate, far.net.resolver, far.net.dialer, tls=tls, watch=watch)
            async with listening(lambda s: proxy.serve(s, Incoming("proxy")), tasks) as port:
                done = await anyio.to_thread.run_sync(self.fetch, port)
            proxy.close()
        return done

    def fetch(self, port):
        env = environment(
            self.home,
            HTTPS_PROXY=f"http://127.0.0.1:{port}",
            CARGO_HTTP_CAINFO=str(self.home / "authority.pem"),
        )
        return subprocess.run(
            ["cargo", "fetch"], cwd=self.home / "project", env=env, capture_output=True, text=True,
            timeout=100, check=False,
        )  # fmt: skip

    def refused(self):
        return {one.request.host for one in self.gate.admitted if not one.allowed}


def pages(*, place="https://static.example/crates", checksum=None):
    data = crate()
    return {
        "/config.json": json.dumps({"dl": place}).encode(),
        "/ti/ny/tiny": line(checksum or hashlib.sha256(data).hexdigest()),
        "/crates/tiny/1.0.0/download": data,
    }


@pytest.mark.skipif(CARGO is None, reason="this machine has no cargo")
def test_cargo_fetches_from_where_its_index_keeps_crates(home):
    """The index is known from its settings, the crates' server from the index's."""
    fetch = Fetch(home, pages())
    done = anyio.run(fetch.run)

    assert done.returncode == 0, done.stderr
    (noted,) = fetch.artefacts
    assert (noted.name, noted.version, noted.host) == ("tiny", "1.0.0", "static.example")
    assert noted.matches
    assert fetch.refused() == set()


@pytest.mark.skipif(CARGO is None, reason="this machine has no cargo")
def test_cargo_refuses_a_crate_with_another_checksum_and_the_record_says_so(home):
    """The client checks by itself; the note does not depend on it."""
    fetch = Fetch(home, pages(checksum="00" * 32))
    done = anyio.run(fetch.run)

    assert done.returncode != 0
    assert [noted.matches for noted in fetch.artefacts] == [False]


@pytest.mark.skipif(CARGO is None, reason="this machine has no cargo")
def test_cargo_names_its_built_in_index_where_none_is_set(tmp_path):
    """By what it says when it cannot reach it; the name stands nowhere in this project."""
    (tmp_path / "cargo").mkdir()
    env = environment(tmp_path, HTTPS_PROXY="http://127.0.0.1:9")

    answer = asked("cargo", env)

    assert answer.problem == ""
    assert all(url.startswith("https://") for url in answer.urls)
    assert len(answer.urls) == 1


@pytest.mark.skipif(MAVEN is None, reason="this machine has no maven")
@pytest.mark.timeout(120)
def test_maven_names_its_built_in_repository_or_its_mirror(tmp_path):
    """By the model in its own library, and by settings that replace it."""
    env = {name: os.environ[name] for name in ("PATH", "JAVA_HOME") if name in os.environ}
    env["HOME"] = str(tmp_path)
    plain = asked("maven", env)
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2" / "settings.xml").write_text(
        "<settings><mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf>"
        "<url>https://mirror.example/maven/</url></mirror></mirrors></settings>"
    )
    mirrored = asked("maven", env)

    assert plain.urls
    assert all(url.startswith("https://") for url in plain.urls)
    assert mirrored.urls[-1] == "https://mirror.example:443/maven/"
    assert not set(plain.urls) & set(mirrored.urls)
