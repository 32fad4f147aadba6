"""Keys that a host uses for a box, servers that give them back, and searches for where they got to."""

from __future__ import annotations

import base64
import gzip
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import yaml

from tests.support.certificates import ServerAuthority
from tests.support.echo_server import EchoServer, echo_server
from tests.support.model_server import ModelServer, Reply, anthropic_reply, serving
from tests.support.world import World

VAULTED = "planted/Vault+forge.0123456789=="
PASSWORD = "planted0password0of0the0bot"
PASSPHRASE = "planted horse battery staple 4711"
PROVIDER = "sk-ant-planted-9d2f6c1b7a4e-0f5b"
KEYS = {"vault": VAULTED, "basic": PASSWORD, "passphrase": PASSPHRASE, "provider": PROVIDER}
DECOY = "DECOY-0000-this-one-is-really-there"

WAYS = "plain json redirect chunked gzip br close cut error"

LOOK = r"""
ask="curl -sS -i --max-time 30 --noproxy '' -x http://127.0.0.1:3128"
for way in WAYS; do
  eval $ask https://localhost:PORT/v1/DECOY/$way?q=1; echo
  eval $ask https://localhost:PORT/basic/$way; echo
done > /tmp/answers 2>&1
for at in 1 2 3 4 5 6 7; do
  curl -sSN -i --max-time 30 "$ANTHROPIC_BASE_URL/v1/messages" -H 'content-type: application/json' \
    -H "x-api-key: $ANTHROPIC_API_KEY" \
    -d '{"model": "claude-small", "max_tokens": 50, "stream": true, "messages": [{"role": "user", "content": "hi"}]}'
  echo
done > /tmp/models 2>&1
eval $ask https://localhost:PORT/v1/hold > /tmp/held 2>&1
MARK=DECOY sleep 60 &
python3 -c 'import time; time.sleep(60)' DECOY &
sleep 0.3
python3 search.py
echo placeholders $(grep -c gbx_ /tmp/answers) $(grep -c gbx_ /tmp/models)
cat /tmp/answers /tmp/models
echo asked DECOY
"""

SEARCH = r"""
import os
# Not as they are, so that this file does not find itself.
wanted = {name: [bytes(byte ^ 85 for byte in bytes.fromhex(form)) for form in forms]
          for name, forms in WANTED.items()}
files = procs = 0
def look(path, data):
    for name, forms in wanted.items():
        if any(form in data for form in forms):
            print("FOUND", name, "in", path)
look("env", b"\n".join(k + b"=" + v for k, v in os.environb.items()))
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline"):
        try:
            data = open(f"/proc/{pid}/{name}", "rb").read()
        except OSError:
            continue
        procs += 1
        look(f"/proc/{name}", data)
for top, dirs, names in os.walk("/"):
    if top == "/":
        dirs[:] = [d for d in dirs if d not in ("proc", "sys", "dev")]
    for name in names:
        path = os.path.join(top, name)
        try:
            if not os.path.isfile(path) or os.path.islink(path):
                continue
            data = open(path, "rb").read()
        except OSError:
            continue
        files += 1
        look(path, data)
print("searched", files, procs)
"""


def forms(value: str) -> list[bytes]:
    """Return what the value may look like: cut at both ends, and in the usual encodings."""
    raw = value.encode()
    found = [raw[:14], raw[-14:], raw.hex()[:28].encode(), raw.hex()[:28].upper().encode()]
    for shift in range(3):
        coded = base64.b64encode(bytes(shift) + raw)[4:28]
        found += [coded, coded.translate(bytes.maketrans(b"+/", b"-_"))]
    found.append(quote(value, safe="").encode()[:20])
    return list(dict.fromkeys(found))


def found_in(data: bytes, values: Mapping[str, str] = KEYS) -> list[str]:
    """Name the keys that are in some bytes, in any form."""
    return [name for name, value in values.items() if any(form in data for form in forms(value))]


def search() -> str:
    """Return a program that looks for the keys and the decoy in all that a box can read."""
    hidden = {
        name: [bytes(byte ^ 85 for byte in form).hex() for form in forms(value)]
        for name, value in {**KEYS, "decoy": DECOY}.items()
    }
    return SEARCH.replace("WANTED", repr(hidden))


@dataclass
class Planted(World):
    """A world whose host has the keys, and a policy that lets a box use two of them."""

    inspected: dict[str, bytes] = field(default_factory=dict)
    """What the engine and the host's process list knew while a box worked."""

    def env(self, **more: str | None) -> dict[str, str]:
        own = {
            "ANTHROPIC_API_KEY": PROVIDER,
            "BOT_PASSWORD": PASSWORD,
            "GLOVEBOX_VAULT_PASSPHRASE_FILE": str(self.root / "passphrase"),
        }
        return super().env(**(own | more))

    def plant(self, port: int, model: str) -> str:
        """Write keys, configuration, policy and the programs of the box; returns the policy."""
        passphrase = self.root / "passphrase"
        passphrase.write_text(PASSPHRASE + "\n")
        passphrase.chmod(0o600)
        kept = self.run("keys", "set", "forge", "-", "--to", "vault", stdin=VAULTED)
        assert kept.code == 0, kept.err
        (self.root / "config").mkdir(exist_ok=True)
        config = {
            "egress": {"extra_ca": str(self.root / "company.pem")},
            "providers": {"anthropic": {"base_url": model}},
        }
        (self.root / "config" / "config.yaml").write_text(yaml.safe_dump(config))
        (self.project / "decoy.txt").write_text(DECOY)
        (self.project / "search.py").write_text(search())
        look = LOOK.replace("WAYS", WAYS).replace("PORT", str(port)).replace("DECOY", DECOY)
        (self.project / "look.sh").write_text(look)
        policy = self.root / "policy.yaml"
        policy.write_text(yaml.safe_dump(_policy(port)))
        return str(policy)

    def inspect(self) -> None:
        """Keep what others on this host can see of the box that works now."""
        label = f"label=glovebox.session={self.session()}"
        (box,) = _docker("ps", "-q", "--filter", label).decode().split()
        image = _docker("inspect", "-f", "{{.Image}}", box).decode().strip()
        self.inspected = {
            "inspect": _docker("inspect", box),
            "image": _docker("image", "inspect", image),
            "history": _docker("history", "--no-trunc", image),
            "top": _docker("top", box),
            "argv": b"\n".join(_argv()),
        }
        self.inspected["layers"] = "\n".join(_exported(box)).encode()


def _docker(*words: str) -> bytes:
    done = subprocess.run(["docker", *words], capture_output=True, check=True)
    return done.stdout + done.stderr


def _argv() -> Iterator[bytes]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes()
        except OSError:
            continue


def _exported(box: str) -> list[str]:
    """Read all layers of a box as root does; name what is found, and say how much there was."""
    wanted = {
        **{name: value.encode()[:14] for name, value in KEYS.items()},
        "libc": b"GNU C Library",
    }
    names, size, tail = set(), 0, b""
    with subprocess.Popen(["docker", "export", box], stdout=subprocess.PIPE) as export:
        assert export.stdout is not None
        while piece := export.stdout.read(8 << 20):
            size += len(piece)
            names |= {name for name, form in wanted.items() if form in tail + piece}
            tail = piece[-32:]
    return [*sorted(names), f"{size >> 20} MiB"]


def _policy(port: int) -> dict[str, object]:
    near = {
        "hosts": ["localhost"],
        "ports": [port],
        "private": ["127.0.0.0/8", "::1/128"],
        "effect": "allow",
    }
    header = {"secret": "vault:forge", "header": "X-Api-Key", "variables": ["API_KEY"]}
    basic = {"secret": "env:BOT_PASSWORD", "basic": "bot", "variables": ["BOT_TOKEN"]}
    rules = [
        {**near, "id": "keyed", "paths": ["/v1/**"], "inject": header},
        {**near, "id": "basic", "paths": ["/basic/**"], "inject": basic},
    ]
    return {
        "version": 1,
        "name": "planted",
        "extends": ["default"],
        "network": {"default": "deny", "rules": rules},
        "models": {"in_box": "allow", "box": {"allow": ["anthropic/*"]}},
        "commands": {"risks": dict.fromkeys(("upload", "secrets", "opaque"), "allow")},
    }


@contextmanager
def hostile(world: Planted) -> Iterator[tuple[EchoServer, ModelServer, str]]:
    """A server and a model that give back every key that they were sent; yields the policy too."""
    authority = ServerAuthority()
    (world.root / "company.pem").write_text(authority.pem)
    context = authority.server_context(world.root, "localhost")
    coded = [base64.b64encode(PROVIDER.encode()).decode(), PROVIDER.encode().hex()]
    error = {"type": "error", "error": {"type": "authentication_error", "message": PROVIDER}}
    zipped = {"content-encoding": "gzip"}
    replies = (
        anthropic_reply(text=f"it is {PROVIDER}", bytewise=True),
        Reply(400, headers={"x-echo": PROVIDER, "request-id": PROVIDER}, body=error),
        Reply(500, body={"forms": [*coded, quote(quote(PROVIDER)), PROVIDER]}),
        Reply(403, body=gzip.compress(f'{{"error": "{PROVIDER}"}}'.encode()), headers=zipped),
        Reply(302, headers={"location": f"http://127.0.0.1:9/{PROVIDER}"}, body={}),
        anthropic_reply(calls=(("c1", PROVIDER, f'{{"key": "{PROVIDER}"}}'),)),
        # A piece of it in each of two events.
        anthropic_reply(text=PROVIDER, calls=(("c2", "name", PROVIDER),)),
    )
    with echo_server(context) as echo, serving(*replies) as model:
        echo.held = world.inspect
        yield echo, model, world.plant(echo.port, model.address)
