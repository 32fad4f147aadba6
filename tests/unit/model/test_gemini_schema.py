from orchestrator.model.gemini_schema import told_by_enum


def test_const_is_an_enum_of_one_at_any_depth():
    """Gemini passes a const over."""
    schema = {"properties": {"a": {"const": "x"}}, "anyOf": [{"const": 1}, {"type": "null"}]}
    assert told_by_enum(schema) == {
        "properties": {"a": {"enum": ["x"]}},
        "anyOf": [{"enum": [1]}, {"type": "null"}],
    }


def test_names_and_data_are_no_keywords():
    """An argument may be called const, and a default may look like a schema."""
    schema = {
        "properties": {"const": {"type": "string"}, "enum": {"const": "y"}},
        "default": {"const": "z"},
        "required": ["const"],
    }
    assert told_by_enum(schema) == {
        "properties": {"const": {"type": "string"}, "enum": {"enum": ["y"]}},
        "default": {"const": "z"},
        "required": ["const"],
    }


def test_what_no_enum_can_say_stays():
    """Nothing is taken away."""
    assert told_by_enum({"const": None}) == {"const": None}
    assert told_by_enum({"const": "a", "enum": ["a"]}) == {"const": "a", "enum": ["a"]}
