"""What a policy file's section on models may say."""

import pytest
from pydantic import ValidationError

from orchestrator.policy.models_section import BoxModels


@pytest.mark.parametrize("model", ["claude", "*/x", "a/*", "/x", "a/"])
def test_stand_in_that_names_no_model_is_refused(model):
    """What answers is one model of one provider."""
    with pytest.raises(ValidationError, match="expected a model as provider/name, or local"):
        BoxModels.model_validate({"map": {"*": model}})


def test_stand_in_may_be_the_local_model():
    """It has no provider in its name."""
    assert BoxModels.model_validate({"map": {"gpt-*": "local"}}).map == {"gpt-*": "local"}
