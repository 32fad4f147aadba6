from typing import get_args

from orchestrator.policy.document import Control
from orchestrator.schema.posture import CONTROLS


def test_policy_can_require_every_control_and_no_other():
    """The word in a policy and the control that is proved are one list."""
    assert set(get_args(Control)) == set(CONTROLS)


def test_every_control_says_what_to_do():
    """A refusal without a way out would only annoy."""
    assert all(control.required and control.mend for control in CONTROLS.values())
