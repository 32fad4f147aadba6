from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.engine.facts import EngineInfo
from orchestrator.harness.doctor import CHECKS, GIB, Finding, diagnose, exit_code
from orchestrator.harness.doctor_box import BoxFacts
from orchestrator.harness.doctor_facts import EngineFacts, Folder, MachineFacts, PolicyFacts
from orchestrator.harness.egress.doctor_way import WayOutFacts
from orchestrator.schema.posture import CONTROLS, Posture

INFO = EngineInfo(
    local=True,
    api_version="1.41",
    server_version="20.10.24",
    operating_system="Debian GNU/Linux 12",
    kernel="6.1.0",
    architecture="x86_64",
    cpus=2,
    memory=8 * GIB,
    storage_driver="overlay2",
    root_dir="/var/lib/docker",
    cgroup_driver="systemd",
    cgroup_version="2",
    limits={"memory": True, "pids": True, "cpu": True},
    rootless=False,
    security_options=("seccomp",),
    runtimes=("runc",),
    default_runtime="runc",
)
ENGINE = EngineFacts(
    url="unix:///var/run/docker.sock",
    info=INFO,
    base_present=True,
    image="glovebox/sandbox:0123456789ab",
    image_digest="sha256:" + "1" * 64,
)
STATE = Folder(path=Path("/home/u/.local/state/glovebox"), exists=True, mode=0o700, free=50 * GIB)
WELL = MachineFacts(
    python=(3, 11, 7),
    engine=ENGINE,
    state=STATE,
    kernel="6.1.0-18-amd64",
    overlay=True,
    openat2=True,
    engine_free=50 * GIB,
    keys=("anthropic",),
    local_model=True,
    keyring="SecretService",
)


def engine(**changes: object) -> MachineFacts:
    return replace(WELL, engine=replace(ENGINE, info=replace(INFO, **changes)))


def finding(facts: MachineFacts, name: str) -> Finding:
    return next(item for item in diagnose(facts) if item.name == name)


def test_machine_in_order_needs_nothing():
    """Where all is well nothing has to be mended and the exit code is 0."""
    findings = diagnose(WELL)

    assert {item.status for item in findings} == {"ok", "info"}
    assert [item.mend for item in findings if item.mend] == []
    assert exit_code(findings) == 0


def test_every_check_has_its_own_name():
    """A machine can tell the findings apart."""
    names = [item.name for item in diagnose(WELL)]

    assert len(set(names)) == len(CHECKS)


SICK = {
    "python": (replace(WELL, python=(3, 10, 9)), 1),
    "limits": (engine(limits={"memory": True, "pids": False, "cpu": True}), 5),
    "seccomp": (engine(security_options=("apparmor",)), 5),
    "kernel": (replace(WELL, openat2=False), 1),
    "image": (replace(WELL, engine=replace(ENGINE, image_digest="")), 1),
    "state": (replace(WELL, state=replace(STATE, mode=0o755)), 1),
    "disk": (replace(WELL, engine_free=GIB), 1),
}


@pytest.mark.parametrize("name", SICK)
def test_failure_says_how_to_mend_it(name):
    """Each failing check names a remedy and sets the exit code of its kind."""
    facts, code = SICK[name]
    found = finding(facts, name)

    assert (found.status, exit_code(diagnose(facts))) == ("fail", code)
    assert found.mend
    assert [item.name for item in diagnose(facts) if item.status == "fail"] == [name]


def test_missing_engine_carries_the_clients_hint():
    """The one command that sets the engine up comes from where the engine was sought."""
    gone = EngineFacts(failure="no container engine answers", hint="run `sudo sh x`")
    facts = replace(WELL, engine=gone, engine_free=None)
    found = finding(facts, "engine")

    assert (found.found, found.mend) == (gone.failure, gone.hint)
    assert exit_code(diagnose(facts)) == 5


def test_unknown_is_never_a_pass():
    """What cannot be asked without an engine is not reported as fine."""
    facts = replace(WELL, engine=EngineFacts(failure="gone"), engine_free=None)

    for name in ("limits", "seccomp", "workspace", "image"):
        assert finding(facts, name).status == "fail"


def test_rootless_engine_without_limits_is_told_why():
    """Rootless on cgroup v1 ignores limits silently; the remedy names both ways out."""
    none = {"memory": False, "pids": False, "cpu": False}
    found = finding(
        engine(rootless=True, limits=none, cgroup_driver="none", cgroup_version="1"), "limits"
    )

    assert found.status == "fail"
    assert "cannot limit memory, pids, cpu" in found.found
    assert "rootless" in found.mend
    assert "root engine" in found.mend


def test_remote_engine_is_no_failure():
    """A remote engine works by copying; that is said, and not failed."""
    facts = engine(local=False)

    assert finding(facts, "workspace").status == "warn"
    assert exit_code(diagnose(facts)) == 0


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("tcp://10.0.0.5:2375", "warn"),
        ("tcp://127.0.0.1:2375", "ok"),
        ("tcp://localhost:2375", "ok"),
        ("tcp://localhost.example:2375", "warn"),
        ("tcp://127.example:2375", "warn"),
        ("tcp://[::1]:2375", "ok"),
        ("ssh://u@host", "ok"),
    ],
)
def test_engine_over_a_network_is_warned_of(url, status):
    """Whoever reaches an engine's port is root on its machine."""
    facts = replace(WELL, engine=replace(ENGINE, url=url))

    assert finding(facts, "engine").status == status


def test_encrypted_engine_is_not_warned_of():
    """TLS over a network is fine."""
    remote = replace(ENGINE, url="tcp://10.0.0.5:2376", encrypted=True)

    assert finding(replace(WELL, engine=remote), "engine").status == "ok"


@pytest.mark.parametrize(("free", "status"), [(1, "fail"), (5, "warn"), (20, "ok")])
def test_little_room_warns_before_it_fails(free, status):
    """Room for a full session is fine, room for the image alone a warning."""
    assert finding(replace(WELL, engine_free=free * GIB), "disk").status == status


def test_unseen_engine_disk_is_left_out():
    """What cannot be measured is neither fine nor full."""
    assert "images" not in finding(replace(WELL, engine_free=None), "disk").found


def test_kernel_before_userxattr_is_a_warning():
    """An older kernel still copies workspaces."""
    assert finding(replace(WELL, kernel="5.10.0-28-amd64"), "kernel").status == "warn"
    assert finding(replace(WELL, kernel="5.11.0"), "kernel").status == "ok"


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701, 0o720])
def test_state_open_to_anybody_is_refused(mode):
    """A right of the group is as bad as one of everybody."""
    found = finding(replace(WELL, state=replace(STATE, mode=mode)), "state")

    assert found.status == "fail"
    assert f"{mode:o}" in found.found


def test_state_that_is_not_there_yet_is_fine():
    """The first run makes the folder."""
    facts = replace(WELL, state=replace(STATE, exists=False, mode=0))
    found = finding(facts, "state")

    assert found.status == "ok"
    assert "will be made" in found.found


def test_state_of_someone_else_is_refused():
    """A folder that another user owns can be read and changed by that user."""
    found = finding(replace(WELL, state=replace(STATE, own=False)), "state")

    assert found.status == "fail"
    assert "chown" in found.mend


def test_no_model_is_information():
    """A machine without any key can still run scripts; the way to one is named."""
    facts = replace(WELL, keys=(), local_model=False)
    found = finding(facts, "model")

    assert found.status == "info"
    assert "keys set" in found.mend
    assert exit_code(diagnose(facts)) == 0


def boxed(lacking=(), required=("seccomp", "no_network"), **more):
    controls = {name: name not in lacking for name in CONTROLS}
    posture = Posture(controls, {"engine": "docker 24"}, dict.fromkeys(lacking, "seen so"))
    return replace(WELL, box=BoxFacts(posture, required, **more))


def test_box_that_has_what_policy_requires_is_fine():
    """What it lacks beyond that is told, and no failure."""
    facts = boxed(lacking=("gvisor", "masked_paths"))

    assert finding(facts, "box").status == "ok"
    assert (finding(facts, "box.gvisor").status, finding(facts, "box.masked_paths").status) == (
        "info",
        "warn",
    )
    assert exit_code(diagnose(facts)) == 0


def test_required_control_that_lacks_fails_the_engine():
    """With what was seen, and what to do."""
    found = finding(boxed(lacking=("seccomp",)), "box.seccomp")

    assert (found.status, found.found, found.mend) == ("fail", "seen so", CONTROLS["seccomp"].mend)
    assert exit_code(diagnose(boxed(lacking=("seccomp",)))) == 5
    assert "seccomp" in finding(boxed(lacking=("seccomp",)), "box").mend


def test_box_that_does_not_start_fails_with_its_reason():
    """No posture is no pass."""
    facts = replace(WELL, box=BoxFacts(failure="no room", hint="make room"))

    assert (finding(facts, "box").found, finding(facts, "box").mend) == ("no room", "make room")
    assert exit_code(diagnose(facts)) == 5


def test_installed_policy_is_told_and_one_that_does_not_hold_fails():
    """Where it starts nothing, the doctor says so, with the same words and mend."""
    held = replace(WELL, policy=PolicyFacts(("org serial 3, key 00, now",)))
    spoilt = replace(WELL, policy=PolicyFacts(failure="/etc/glovebox/org.yaml:1: x", hint="mend"))

    assert finding(WELL, "policy").status == "info"
    assert finding(held, "policy") == Finding("policy", "ok", "org serial 3, key 00, now")
    assert finding(spoilt, "policy") == Finding(
        "policy", "fail", "/etc/glovebox/org.yaml:1: x", "mend"
    )
    assert exit_code(diagnose(spoilt)) == 1


def test_way_out_that_could_not_be_opened_has_to_be_mended():
    """No session under that policy would begin."""
    told = finding(replace(WELL, way_out=WayOutFacts("policy work: 2 network rules")), "way out")
    broken = WayOutFacts(failure="ca.pem: cannot be read", hint="name a file")
    failed = finding(replace(WELL, way_out=broken), "way out")

    assert (told.status, told.found) == ("info", "policy work: 2 network rules")
    assert (failed.status, failed.mend) == ("fail", "name a file")
