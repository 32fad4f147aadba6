import anyio
import pytest

from orchestrator.engine.volumes import Owner, create_volume, remove_volume
from orchestrator.workspace.handover import discard_changes
from orchestrator.workspace.orphans import remove_orphans

pytestmark = pytest.mark.docker


def test_only_volumes_without_a_record_are_removed(any_desk, tmp_path):
    """Changes that wait stay, and so does a volume that a container has."""
    workspace = any_desk.work("echo x > made")
    kept = workspace.site.record.volume
    lost, used = "glovebox-test-lost", "glovebox-test-used"
    api = any_desk.engine.api
    for name in (lost, used):
        create_volume(any_desk.engine, name, owner=Owner("0" * 12, tmp_path / "none"))
    config = api.create_host_config(binds={used: {"bind": "/v"}})
    user = api.create_container(workspace.site.record.image, ["x"], host_config=config)["Id"]
    try:
        removed = remove_orphans(any_desk.engine)
    finally:
        api.remove_container(user)
        remove_volume(any_desk.engine, used)

    assert lost in removed
    assert not {kept, used} & set(removed)
    assert any_desk.look(workspace).changes
    anyio.run(discard_changes, workspace)
    assert not {kept, lost, used} & set(remove_orphans(any_desk.engine))
