"""Credentials that a real box uses and never holds: git over https, and a server that gives them back."""

import json

import anyio
import pytest

from orchestrator.config.settings import EgressSettings, Settings
from orchestrator.egress.scripted import ScriptedDialer, ScriptedResolver
from orchestrator.harness.egress.net import Net
from tests.support.asking import Someone, yes
from tests.support.certificates import ServerAuthority
from tests.support.echo_server import echo_server
from tests.support.git_server import git_server
from tests.support.outing import Told
from tests.support.repositories import git
from tests.support.upstream import PUBLIC

pytestmark = pytest.mark.docker
HOST = "forge.acme.example"
SECRET = "planted/Forge+key.0123456789=="


class Forge:
    """The host's side: a secret in its environment, an authority it trusts, one server."""

    def __init__(self, folder, monkeypatch):
        monkeypatch.setenv("FORGE_KEY", SECRET)
        self.authority = ServerAuthority()
        extra = folder / "company.pem"
        extra.write_text(self.authority.pem)
        self.context = self.authority.server_context(folder, HOST)
        self.settings = Settings(egress=EgressSettings(extra_ca=extra))

    def net(self, port):
        return Net(ScriptedResolver({HOST: [PUBLIC]}), ScriptedDialer({(PUBLIC, 443): port}))


@pytest.fixture
def forge(tmp_path, monkeypatch):
    return Forge(tmp_path, monkeypatch)


def rule(name, **more):
    return {"id": name, "hosts": [HOST], "effect": "allow", **more}


def run(outing, forge, port, rules, *commands):
    async def scene():
        return await outing.run(
            outing.policy(default="deny", rules=rules),
            *commands,
            net=forge.net(port),
            settings=forge.settings,
        )

    return anyio.run(scene)


def test_git_clones_and_pushes_without_a_credential_in_the_box(outing, forge, tmp_path):
    """A push is asked about once; the server saw its own user, and the box nothing of it."""
    source, served = tmp_path / "source", tmp_path / "served"
    source.mkdir()
    git(source, "init", "-q", "-b", "main")
    (source / "app.py").write_text("print('hello')\n")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "Begin")
    git(source, "clone", "-q", "--bare", str(source), str(served / "acme" / "app.git"))
    git(served / "acme" / "app.git", "config", "http.receivepack", "true")
    inject = {"secret": "env:FORGE_KEY", "basic": "bot"}
    rules = [
        rule("fetch", git="read", inject=inject),
        rule("push", git="write", inject=inject) | {"effect": "ask"},
    ]
    outing.told = Told(Someone(yes(), yes()))
    with git_server(served, forge.context, user="bot", password=SECRET) as server:
        cloned, pushed = run(
            outing,
            forge,
            server.port,
            rules,
            f"cd /tmp && git clone -q https://{HOST}/acme/app.git 2>&1 && cat app/app.py",
            "cd /tmp/app && git switch -qc topic && echo x > new && git add new && "
            "git -c user.name=A -c user.email=a@b.example commit -qm Add && "
            "git push -q origin topic 2>&1; echo ended $?",
        )
    heads = git(served / "acme" / "app.git", "branch", "--list", "topic")

    assert "print('hello')" in cloned
    assert "ended 0" in pushed
    assert "topic" in heads
    # The command itself is asked about as one that publishes, then what it sends.
    _, question = outing.told.somebody.asked
    assert question.subject == f"POST https://{HOST}/acme/app.git/git-receive-pack"
    assert server.refused == 0


LOOK = """
for way in plain json redirect chunked gzip br close error; do
  curl -sS -i https://forge.acme.example/v1/$way?q=1; echo
done > /tmp/answers 2>&1
curl -sS https://forge.acme.example/open/plain >> /tmp/answers 2>&1
curl -sS -o /dev/null -w '%{http_code}\\n' -H 'X-Api-Key: mine' https://forge.acme.example/v1/plain
grep -c gbx_ /tmp/answers
head -c 4 <<< "$API_KEY"; echo
python3 - <<'PY'
import base64, os, pathlib, urllib.parse
# In pieces, so that this text does not find itself.
secret = "planted/" + "Forge+key" + ".0123456789=="
raw = secret.encode()
forms = [secret, raw.hex(), base64.b64encode(raw).decode()[:36], urllib.parse.quote(secret, safe=""), secret[:14], secret[-14:]]
texts = {"answers": pathlib.Path("/tmp/answers").read_text("latin-1")}
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        texts[pid] = pathlib.Path(f"/proc/{pid}/environ").read_text("latin-1")
    except OSError:
        pass
print("looked", len(texts["answers"]) > 1000, [name for name, text in texts.items() for form in forms if form in text])
PY
"""


def test_planted_secret_is_nowhere_but_at_its_server(outing, forge):
    """Not in the box, whatever the server gives back; not in events, audit, session or notes."""
    inject = {"secret": "env:FORGE_KEY", "header": "X-Api-Key", "variables": ["API_KEY"]}
    rules = [
        rule("keyed", paths=["/v1/**"], inject=inject),
        rule("open", paths=["/open/**"]),
    ]
    (outing.project / "look.sh").write_text(LOOK)
    with echo_server(forge.context) as server:
        (said,) = run(outing, forge, server.port, rules, "bash look.sh")
    left = [path for path in outing.paths.state.rglob("*") if path.is_file()]
    found = [path for path in left if SECRET.encode() in path.read_bytes()]
    told = json.dumps([repr(event) for event in outing.told.events] + outing.told.notes)

    assert "looked True []" in said
    assert said.startswith("403\n")
    assert "gbx_" in said
    assert {headers.get("x-api-key") for _, _, headers in server.asked} == {SECRET, None}
    assert left
    assert found == []
    assert SECRET not in told
