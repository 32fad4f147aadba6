import anyio
import pytest

from orchestrator.config.settings import EgressSettings
from orchestrator.egress.memory import stream_pair
from orchestrator.egress.tls.authority import Authority
from orchestrator.errors import ConfigError
from orchestrator.harness.egress.secured import session_tls


def test_own_authority_vouches_for_a_server_to_whoever_trusts_it(tmp_path):
    """Both sides of the session's TLS, one against the other: the box's side made the certificate."""
    authority = Authority("0123456789ab")
    inner = session_tls(authority, EgressSettings())
    extra = tmp_path / "ca.pem"
    extra.write_text(authority.certificate)
    outer = session_tls(Authority("ffff"), EgressSettings(extra_ca=extra))

    async def run():
        here, there = stream_pair()
        got = []

        async def serve():
            stream = await inner.terminate(there, "docs.acme.example")
            got.append(await stream.receive())

        async with anyio.create_task_group() as group:
            group.start_soon(serve)
            stream = await outer.connect(here, "docs.acme.example")
            await stream.send(b"hello", last=True)
        return got

    assert anyio.run(run) == [b"hello"]


def test_server_that_nobody_vouches_for_is_told_nothing():
    tls = session_tls(Authority("0123456789ab"), EgressSettings())
    other = session_tls(Authority("ffff"), EgressSettings())

    async def run():
        here, there = stream_pair()

        async def serve():
            with pytest.raises(OSError, match=r"\w"):
                await tls.terminate(there, "docs.acme.example")

        async with anyio.create_task_group() as group:
            group.start_soon(serve)
            with pytest.raises(OSError, match="does not hold"):
                await other.connect(here, "docs.acme.example")
            await here.close()

    anyio.run(run)


def test_extra_authorities_that_are_none_are_refused(tmp_path):
    """Left out in silence, they would be missed where they are needed."""
    file = tmp_path / "ca.pem"
    file.write_text("no certificate")

    with pytest.raises(ConfigError, match="extra_ca"):
        session_tls(Authority("x"), EgressSettings(extra_ca=file))
    with pytest.raises(ConfigError, match="cannot be read"):
        session_tls(Authority("x"), EgressSettings(extra_ca=tmp_path / "none.pem"))
