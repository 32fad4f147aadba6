"""The schema for editors."""

import json

from orchestrator.policy.json_schema import policy_schema


def test_every_key_of_every_section_is_described():
    """An editor can explain whatever may be typed."""
    schema = policy_schema()
    sections = {**schema["$defs"], "PolicyDocument": schema}
    bare = [
        f"{name}.{key}"
        for name, section in sections.items()
        for key, value in section.get("properties", {}).items()
        if not value.get("description")
    ]

    assert bare == []


def test_the_schema_is_json_and_refuses_unknown_keys():
    """What the loader refuses, the editor underlines."""
    schema = json.loads(json.dumps(policy_schema()))

    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == {"version", "name"}
    assert schema["$defs"]["Limits"]["additionalProperties"] is False
