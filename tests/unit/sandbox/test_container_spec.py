import json
from dataclasses import replace

import pytest

from orchestrator.engine.trust_files import TRUST
from orchestrator.errors import BoxError
from orchestrator.sandbox.container_spec import (
    HOME,
    SOCKET_MOUNT,
    Ground,
    ImageConfig,
    container_options,
    tmpfs_sizes,
    writable_places,
)
from orchestrator.schema.mount import Mount
from tests.support.boxes import LIMITS, MIB, small_spec

SPEC = small_spec("image")
GROUND = Ground(owner="1:2:3:4", seccomp='{\n "a": 1}', socket_directory="/run/x/s")


def options(spec=SPEC, ground=GROUND):
    return container_options(spec, ground)


def host(spec=SPEC, ground=GROUND):
    return options(spec, ground)["HostConfig"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NetworkMode", "none"),
        ("CapDrop", ["ALL"]),
        ("CapAdd", ["SETUID", "SETGID", "KILL"]),
        ("SecurityOpt", ["no-new-privileges", 'seccomp={"a":1}']),
        ("ReadonlyRootfs", True),
        ("Privileged", False),
        ("AutoRemove", True),
        ("Init", True),
        ("LogConfig", {"Type": "none", "Config": {}}),
        ("PidsLimit", LIMITS.pids),
        ("Memory", LIMITS.memory),
        ("MemorySwap", LIMITS.memory),
        ("NanoCpus", 2_000_000_000),
        ("Devices", []),
        ("PidMode", ""),
        ("IpcMode", "private"),
        ("Dns", ["127.0.0.1"]),
    ],
)
def test_hardening_is_asked_for(name, value):
    """Each control is in the request that the engine gets."""
    assert host()[name] == value


def test_lifeline_is_asked_for():
    """The box ends with the attachment of its harness."""
    asked = options()

    assert asked["OpenStdin"] is asked["StdinOnce"] is True
    assert asked["Tty"] is False
    assert asked["User"] == "0:0"


def test_image_runs_nothing_beside_the_server():
    """Neither its entry point nor its health check."""
    asked = options()

    assert asked["Entrypoint"][-1] == "/opt/glovebox/toolserver"
    assert asked["Cmd"] == []
    assert asked["Healthcheck"] == {"Test": ["NONE"]}
    assert asked["Env"] == ["HOME=/", "LC_ALL=C", "PATH=/opt/glovebox"]


def test_labels_say_whose_it_is():
    """And a spec's own labels cannot say otherwise."""
    spec = replace(SPEC, labels={"glovebox.owner": "somebody", "team": "blue"})

    labels = options(spec)["Labels"]

    assert labels["glovebox.session"] == SPEC.session
    assert labels["glovebox.owner"] == "1:2:3:4"
    assert labels["glovebox.kind"] == "box"
    assert labels["team"] == "blue"


@pytest.mark.parametrize("ids", [{"uid": 0}, {"gid": 0}, {"uid": -1}])
def test_root_commands_are_refused(ids):
    """No policy can ask for them."""
    with pytest.raises(BoxError, match="never run as root"):
        options(replace(SPEC, **ids))


def test_mounts_become_the_engines():
    """Volumes are not filled from the image, binds do not spread, read-only ones are not entered."""
    spec = replace(
        SPEC,
        mounts=(
            Mount("volume", "vol", "/workspace"),
            Mount("bind", "/srv/data", "/data", read_only=True),
        ),
    )

    volume, bind, glove = host(spec)["Mounts"]

    assert (volume["Type"], volume["VolumeOptions"]) == ("volume", {"NoCopy": True})
    assert bind["ReadOnly"] is True
    assert bind["BindOptions"] == {"Propagation": "rprivate", "NonRecursive": True}
    assert (glove["Source"], glove["Target"], glove["ReadOnly"]) == ("/run/x/s", SOCKET_MOUNT, True)


def test_remote_box_has_no_socket_mount():
    """A directory of this machine means nothing to another."""
    assert host(ground=replace(GROUND, socket_directory=None))["Mounts"] == []


def test_runtime_makes_the_network_where_the_names_are_ours():
    """The engine is then not asked for one; it has no way out and no IPv6 either way."""
    ground = replace(GROUND, names="/run/x", ipv6=True)

    asked = options(ground=ground)
    mounted = {mount["Target"]: mount for mount in asked["HostConfig"]["Mounts"]}

    assert (asked["NetworkDisabled"], asked["HostConfig"]["NetworkMode"]) == (True, "none")
    assert asked["HostConfig"]["Sysctls"]["net.ipv6.conf.all.disable_ipv6"] == "1"
    for name in ("hosts", "resolv.conf"):
        mount = mounted[f"/etc/{name}"]
        assert (mount["Source"], mount["ReadOnly"]) == (f"/run/x/{name}", True)


def test_engine_makes_network_and_names_otherwise():
    """As for a box on another machine, or one that others are to join."""
    asked = options()

    assert asked["NetworkDisabled"] is False
    assert [mount["Target"] for mount in asked["HostConfig"]["Mounts"]] == [SOCKET_MOUNT]


def test_kernel_without_ipv6_is_not_asked_to_switch_it_off():
    """The start would fail for want of the setting."""
    assert (
        "net.ipv6.conf.all.disable_ipv6" not in host(ground=replace(GROUND, names="/x"))["Sysctls"]
    )


def test_unknown_mount_is_refused():
    """A kind that nobody knows is not passed on."""
    with pytest.raises(BoxError, match="'nfs'"):
        options(replace(SPEC, mounts=(Mount("nfs", "a", "/b"),)))


def test_scratch_is_writable_executable_and_without_privilege():
    """Each tmpfs is the command's user's, honours no set-id bit and no device; one is the server's."""
    found = host()["Tmpfs"]
    trust = set(found.pop(TRUST).split(","))
    assert {"noexec", "nosuid", "nodev", "mode=0755"} <= trust
    assert not any(word.startswith("uid=") for word in trust)
    for text in found.values():
        assert {"rw", "exec", "nosuid", "nodev", "uid=1000", "gid=1000"} <= set(text.split(","))
    assert "mode=1777" in host()["Tmpfs"]["/tmp"]


def test_scratch_fits_into_half_of_the_memory():
    """A full tmpfs must leave room for the command that empties it."""
    spec = replace(SPEC, tmpfs={"/tmp": 4096 * MIB})

    sizes = tmpfs_sizes(spec)

    assert sum(sizes.values()) <= LIMITS.memory // 2
    assert min(sizes.values()) > MIB
    assert set(sizes) == {HOME, "/tmp", "/workspace"}


def test_scratch_that_fits_has_the_size_that_was_asked_for():
    """Nothing is scaled without need."""
    spec = replace(SPEC, limits=replace(LIMITS, memory=4096 * MIB), tmpfs={"/tmp": 100 * MIB})

    assert tmpfs_sizes(spec)["/tmp"] == 100 * MIB


def test_every_writable_place_is_watched():
    """The disk budget covers all that a command can fill."""
    spec = replace(
        SPEC,
        mounts=(Mount("volume", "v", "/workspace"), Mount("bind", "/a", "/a", read_only=True)),
    )

    assert set(writable_places(spec)) == {"/workspace", "/tmp", HOME, "/dev/shm"}


def test_runtime_is_passed_where_it_is_named():
    """Else the engine's default runs."""
    assert "Runtime" not in host()
    assert host(replace(SPEC, runtime="runsc"))["Runtime"] == "runsc"


def test_options_are_plain_json():
    """They go to the engine as they are."""
    assert json.loads(json.dumps(options())) == options()


def of_image(**declared):
    return options(ground=replace(GROUND, image=ImageConfig(**declared)))


def test_server_gets_none_of_the_image_variables():
    """A name without a value has the engine take it away; LD_PRELOAD would be root's."""
    asked = of_image(environment=("LD_PRELOAD=/evil.so", "PATH=/evil", "LANG=de_DE", "ODD"))

    assert asked["Env"] == [
        "LANG",
        "LD_PRELOAD",
        "ODD",
        "HOME=/",
        "LC_ALL=C",
        "PATH=/opt/glovebox",
    ]


def test_image_with_volumes_is_refused():
    """The engine would make a writable directory for each, outside of every limit."""
    with pytest.raises(BoxError, match=r"declares volumes: /data"):
        of_image(volumes=("/data",))
