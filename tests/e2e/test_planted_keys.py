"""No key is ever in the box, nor in anything the run leaves behind."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.world import bash, call

pytestmark = pytest.mark.docker

PLANTED = {
    "ANTHROPIC_API_KEY": "sk-" + "ant-api03-PLANTED0anthropic0value0AAAAAAAAAA",
    "OPENAI_API_KEY": "sk-" + "proj-PLANTED0openai0value0BBBBBBBBBBBBBB",
}
VAULT_SECRET = "planted-vault-value-CCCCCCCCCCCCCCCC"
DECOY = "DECOY-0000-this-one-is-really-there"

SEARCH = r"""
python3 - <<'PY'
import os
# In pieces, so that this command does not find itself.
wanted = [b"PLANTED0" + b"anthropic", b"PLANTED0" + b"openai", b"planted-" + b"vault", b"DECOY-" + b"0000"]
seen = files = procs = 0
def look(path, data):
    for number, value in enumerate(wanted):
        if value in data:
            print(f"FOUND {number} in {path}")
look("env", b"\n".join(k + b"=" + v for k, v in os.environb.items()))
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline"):
        try:
            data = open(f"/proc/{pid}/{name}", "rb").read()
        except OSError:
            continue
        procs += 1
        look(f"/proc/{pid}/{name}", data)
for top, dirs, names in os.walk("/", followlinks=False):
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
print("searched", files, "files and", procs, "process files")
PY
"""


@pytest.fixture
def planted(world):
    passphrase = world.root / "passphrase"
    passphrase.write_text("correct horse battery\n")
    passphrase.chmod(0o600)
    env = PLANTED | {"GLOVEBOX_VAULT_PASSPHRASE_FILE": str(passphrase)}
    kept = world.run("keys", "set", "vaulted", "-", "--to", "vault", env=env, stdin=VAULT_SECRET)
    assert kept.code == 0, kept.err
    (world.project / "decoy.txt").write_text(DECOY)
    return world, env


def test_a_search_of_the_whole_box_finds_no_key(planted):
    """Environment, processes, every readable file; a decoy proves that the search sees."""
    world, env = planted
    policy = Path(__file__).parent.parent / "support/policies/box-only.yaml"
    model = world.script(bash(SEARCH, timeout=110), {"text": "."})
    ended = world.run(
        "run", "x", "-m", model, "--json", "--policy", str(policy), env=env, timeout=200
    )
    output = ended.of("tool_end")[0]["output"]

    assert "searched" in output, ended.err
    assert int(output.split("searched ")[1].split()[0]) > 5000
    assert "FOUND 3 in /workspace/decoy.txt" in output
    assert [line for line in output.splitlines() if "FOUND" in line and "FOUND 3" not in line] == []


def test_inspect_and_image_history_hold_no_key(planted):
    """What the engine knows of the box is not secret from other users of the engine."""
    world, env = planted
    model = world.script(bash("sleep 20"), {"text": "."})
    process = world.start("run", "x", "-m", model, "--json", env=env)
    session = next(json.loads(line)["session"] for line in process.stdout if '"decision"' in line)
    ids = subprocess.run(
        ["docker", "ps", "-q", "--filter", f"label=glovebox.session={session}"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    inspected = subprocess.run(
        ["docker", "inspect", *ids], capture_output=True, text=True, check=True
    )
    image = json.loads(inspected.stdout)[0]["Image"]
    history = subprocess.run(
        ["docker", "history", "--no-trunc", image], capture_output=True, text=True, check=True
    )
    process.terminate()
    process.communicate(timeout=20)

    assert len(ids) == 1
    for value in [*PLANTED.values(), VAULT_SECRET]:
        assert value not in inspected.stdout + history.stdout


def test_a_key_the_model_prints_from_a_file_is_redacted_everywhere(planted):
    """Events, session file and audit hold a placeholder; the file itself keeps its value."""
    world, env = planted
    leak = "\n".join([*PLANTED.values(), "plain line"])
    (world.project / "leak.txt").write_text(leak)
    key = PLANTED["OPENAI_API_KEY"]
    model = world.script(
        bash("cat leak.txt; base64 -w0 leak.txt"),
        call("read", path="leak.txt"),
        bash(f"echo {key} > copy.txt"),
        {"text": f"it says {key}"},
    )
    ended = world.run("run", f"print {key}", "-m", model, "--json", env=env)
    session = next(world.state.glob("sessions/*/*.jsonl")).read_text()
    audit = (world.state / "audit" / f"{world.session()}.jsonl").read_text()

    assert ended.code == 0, ended.err
    for text in (ended.out, session, audit):
        assert "[redacted:" in text
        for value in PLANTED.values():
            assert value not in text
    assert "plain line" in ended.out
