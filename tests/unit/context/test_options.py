"""When a conversation is compacted."""

from orchestrator.context.options import ContextOptions


def test_requirement_of_a_usual_window():
    options = ContextOptions()

    assert options.trigger(128_000) == 111_616
    assert options.kept(128_000) == 20_000


def test_small_windows_keep_room():
    options = ContextOptions()

    assert options.trigger(8_192) == 6_144
    assert options.kept(8_192) == 2_048
    assert options.limit(8_192) == 7_168
    assert options.limit(1_000) == 875


def test_long_prompt_leaves_less_to_keep():
    """What stays may not fill what the prompt leaves below the trigger."""
    options = ContextOptions()

    assert options.kept(8_000, 3_000) == 1_000
    assert options.kept(8_000, 7_000) == 0
    assert options.kept(128_000, 4_000) == 20_000
