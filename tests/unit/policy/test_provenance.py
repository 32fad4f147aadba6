"""Which layers, and who vouches for them."""

from orchestrator.policy.load import ProjectText, load_policy
from orchestrator.policy.provenance import layer_facts
from tests.support.installed import Installation


def test_each_layer_is_told_with_what_it_is_held_to(tmp_path):
    """Key, serial and the digest of the exact bytes for what was signed; the text's own for all."""
    machine = Installation(tmp_path)
    path = machine.install(serial=3)
    (tmp_path / "p.yaml").write_text("version: 1\nname: p\n")
    project = ProjectText("x/.glovebox/policy.yaml", b"version: 1\nname: ours\n")
    org, ours, session = layer_facts(
        load_policy(
            ["p"], search=tmp_path, user_file=None, system=machine.folder, projects=[project]
        )
    )

    assert (org["layer"], org["file"], org["serial"]) == ("org", str(path), 3)
    assert (org["key"], org["issued"]) == (machine.public.id, "2026-11-30T12:00:00Z")
    assert (ours["layer"], ours["file_digest"]) == ("project", project.digest)
    assert "key" not in ours
    assert session.keys() == {"layer", "name", "digest"}
