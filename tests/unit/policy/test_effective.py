"""What the effective policy answers by itself."""

from orchestrator.policy.effective import EffectivePolicy

LISTED = "models: {allow: [local, 'anthropic/*']}\n"


def test_model_must_match_a_glob(load):
    """An allow list lets in what it names."""
    policy: EffectivePolicy = load(p=LISTED)

    assert policy.model_allowed("anthropic/claude-x")
    assert not policy.model_allowed("openai/gpt-x")


def test_without_any_list_no_model_is_allowed(load):
    """Nobody voted: no."""
    assert not load(p="").model_allowed("local")


def test_layer_is_found_by_name_or_not_at_all(load):
    """A layer that takes no part is None."""
    policy = load(p=LISTED)

    assert [layer.name for layer in policy.layers] == ["session"]
