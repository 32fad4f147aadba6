from orchestrator.engine.facts import parse_info
from orchestrator.sandbox.container_spec import ImageConfig
from orchestrator.sandbox.hello import Ready
from orchestrator.sandbox.told import known_flaws, told_by, told_of
from orchestrator.schema.ids import digest_of
from tests.support.boxes import small_spec

VERSION = {
    "Components": [
        {"Name": "runc", "Version": "1.1.11", "Details": {"GitCommit": "v1.1.11-0-g4bccb38c"}},
        {"Name": "containerd", "Version": "2.2.0", "Details": {"GitCommit": "abc"}},
    ]
}
IMAGE = ImageConfig(volumes=("/data/", "srv"))
READY = Ready(version=4, transport="stdio", problem="no socket")


def info(**more):
    return parse_info({"DefaultRuntime": "runc", **more}, VERSION, same_machine=False)


def test_facts_name_versions_and_flaws():
    """Whoever reads the audit later can tell what the box stood on."""
    told = told_of(info(KernelVersion="6.1"), small_spec("i"), digest=digest_of(b"i"), image=IMAGE)

    assert (told["runtime"], told["runc"], told["host_kernel"]) == ("runc", "1.1.11", "6.1")
    assert "CVE-2024-21626" in told["known_flaws"]
    assert told_by(READY) == {"transport": "stdio", "transport_problem": "no socket"}
    assert told["image_volumes"] == "/data\n/srv"


def test_another_machines_namespaces_are_not_ours():
    """Only an engine of this machine shares its kernel's numbers."""
    told = told_of(info(), small_spec("i"), digest=digest_of(b"i"), image=IMAGE)

    assert "host_namespaces" not in told


def test_other_runtime_has_other_flaws():
    """What runc has counts only where runc runs the box."""
    assert "runc" in known_flaws(info(), "runc")
    assert known_flaws(info(), "runsc") == ""
