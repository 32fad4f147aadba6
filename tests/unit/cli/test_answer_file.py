"""The file of the answer is looked at before anything is begun."""

import pytest

from orchestrator.cli.answer_file import ANSWER_FLAG


@pytest.mark.parametrize("link", [False, True])
def test_answer_does_not_take_the_place_of_its_schema(world, link):
    """Whatever the file is called."""
    schema, copy = world.project / "schema.json", world.project / "link.json"
    schema.write_text('{"type": "object"}')
    copy.symlink_to(schema)
    flags = [
        "--output-schema",
        "schema.json",
        ANSWER_FLAG,
        "link.json" if link else "./schema.json",
    ]
    ended = world.run("run", "x", "-m", "scripted:x", *flags)

    assert ended.code == 2
    assert "expected another file than that of --output-schema" in ended.err
    assert schema.read_text() == '{"type": "object"}'
    assert not world.state.exists()
