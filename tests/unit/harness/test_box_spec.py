"""From policy and workspace to box and limits."""

from pathlib import Path

import pytest

from orchestrator.errors import PostureError, UsageError
from orchestrator.harness.box_spec import WORKDIR, Tenant, box_spec, require_posture, run_limits
from orchestrator.harness.options import LimitOptions
from orchestrator.policy.effective import LimitSettings
from orchestrator.policy.load import load_policy
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.schema.posture import Posture

SESSION = SessionId("0123456789ab")
MOUNT = Mount("volume", "v", "/workspace")


@pytest.fixture
def policy_of(tmp_path):
    def load(text=""):
        path = tmp_path / "p.yaml"
        path.write_text(f"version: 1\nname: p\n{text}")
        return load_policy([str(path)], search=Path("policies"), user_file=None)

    return load


def test_box_is_what_policy_and_workspace_say(policy_of):
    """Every limit reaches the box; nothing of the host's environment does."""
    policy = policy_of(
        "sandbox: {runtime: runsc, cpus: 1.5, memory: 1GiB, pids: 99, disk: 2GiB, file_size: 1GiB,"
        " read_only_root: true, tmpfs: {/tmp: 64MiB}}\n"
        "files: {read: {default: allow}, read_roots: [/usr/share/dict]}\n"
    )
    spec = box_spec(policy, Tenant(1000, 1001, (MOUNT,)), session=SESSION, image="img")

    assert (spec.session, spec.image, spec.runtime) == (SESSION, "img", "runsc")
    assert (spec.uid, spec.gid, spec.mounts) == (1000, 1001, (MOUNT,))
    assert (spec.workdir, spec.read_only_root) == (WORKDIR, True)
    assert (spec.limits.cpus, spec.limits.memory, spec.limits.pids) == (1.5, 2**30, 99)
    assert (spec.limits.disk, spec.limits.file_size) == (2 * 2**30, 2**30)
    assert spec.tmpfs == {"/tmp": 64 * 2**20}
    assert spec.read_roots == ("/usr/share/dict",)
    assert spec.environment == {}
    assert spec.joined is False


def test_services_join_the_box(policy_of):
    """So its network must be one that others can share."""
    policy = policy_of("services: {db: {image: postgres, port: 5432}}\n")

    assert box_spec(policy, Tenant(1, 1, ()), session=SESSION, image="img").joined is True


@pytest.mark.parametrize("held", [{}, {"no_network": False, "seccomp": True}])
def test_missing_control_refuses_the_session(policy_of, held):
    """Absent and false are the same, and all that lack are named."""
    policy = policy_of("sandbox: {require: [no_network, seccomp]}\n")

    with pytest.raises(PostureError) as caught:
        require_posture(policy, Posture(held))

    assert "no_network" in caught.value.message
    assert ("seccomp" in caught.value.message) is ("seccomp" not in held)
    assert caught.value.exit_code == 5
    assert caught.value.hint


def test_box_with_all_required_controls_is_taken(policy_of):
    """More than required is fine."""
    policy = policy_of("sandbox: {require: [no_network]}\n")

    require_posture(policy, Posture({"no_network": True, "seccomp": False}))


def limits(**more):
    given = dict.fromkeys(
        ("steps", "tokens", "cost_usd", "cost_usd_per_day", "wall_time", "repeat")
    )
    given["tool_calls_per_minute"] = None
    return LimitSettings(**(given | {"command_time": 60.0} | more))


@pytest.mark.parametrize(
    ("policy", "asked", "steps"),
    [(10, None, 10), (None, 5, 5), (10, 5, 5), (5, 10, 5), (None, None, None)],
)
def test_flag_lowers_a_limit_and_never_raises_it(policy, asked, steps):
    """Policy is the ceiling."""
    assert run_limits(limits(steps=policy), LimitOptions(steps=asked)).steps == steps
    assert (
        run_limits(limits(wall_time=policy), LimitOptions(wall_time_s=asked)).wall_time_s == steps
    )


def test_tokens_and_money_of_policy_and_flags_count_over_different_times():
    """The session's whole life, and what the command does: neither stands for the other."""
    policy = limits(tokens=9, cost_usd=5.0, cost_usd_per_day=7.0)

    found = run_limits(policy, LimitOptions(tokens=10, cost_usd=0.0))

    assert (found.tokens, found.cost_usd, found.cost_usd_per_day) == (9, 5.0, 7.0)
    assert (found.asked_tokens, found.asked_cost_usd) == (10, 0.0)


def test_zero_is_a_limit():
    """It is not taken for none."""
    found = run_limits(limits(wall_time=5.0), LimitOptions(wall_time_s=0.0))

    assert found.wall_time_s == 0.0


def test_pace_and_repetition_come_from_policy_alone():
    """No flag touches them; none stands for no limit."""
    assert run_limits(limits(tool_calls_per_minute=7, repeat=3), LimitOptions()).repeat == 3
    assert run_limits(limits(tool_calls_per_minute=7), LimitOptions()).tool_calls_per_minute == 7
    assert run_limits(limits(), LimitOptions()).repeat == 0


@pytest.mark.parametrize("amount", [float("nan"), float("inf")])
def test_amount_that_nothing_reaches_is_no_limit_to_ask_for(amount):
    """What looks like a budget and holds nothing is refused."""
    with pytest.raises(UsageError, match="max-budget-usd"):
        LimitOptions(cost_usd=amount)
