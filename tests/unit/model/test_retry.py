from collections.abc import Sequence

import anyio
import pytest

from orchestrator.errors import ModelError, ScriptError
from orchestrator.model.client import Delta, ModelInfo, OnDelta, Prompt
from orchestrator.model.retry import Retrying, RetryPolicy
from orchestrator.schema.message import AssistantMessage, Text

INFO = ModelInfo("p", "m", 1000, 100)
DONE = AssistantMessage((Text("done"),), "end_turn")


def failed(kind: str = "server", wait: float | None = None) -> ModelError:
    return ModelError(f"p/m: {kind}", kind=kind, retry_after_s=wait)  # type: ignore[arg-type]


class Failing:
    """Fails with each error in turn, then answers."""

    info = INFO

    def __init__(self, errors: Sequence[Exception]) -> None:
        self.errors = list(errors)
        self.tries = 0

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:  # noqa: ARG002 - the Protocol's form
        self.tries += 1
        on_delta(Delta("text", "piece"))
        if self.errors:
            raise self.errors.pop(0)
        return DONE


class Run:
    """One call through Retrying, with its waits and notices kept."""

    def __init__(self, *errors: Exception, rng: float = 1.0, policy: RetryPolicy | None = None):
        self.client = Failing(errors)
        self.slept: list[float] = []
        self.told: list[tuple[int, float, str]] = []
        self.retrying = Retrying(
            self.client,
            sleep=self._sleep,
            rng=lambda: rng,
            on_retry=lambda *told: self.told.append(told),
            policy=policy,
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def answer(self) -> AssistantMessage:
        prompt = Prompt("", ())
        return anyio.run(lambda: self.retrying.complete(prompt, on_delta=lambda _: None))


def test_waits_grow_and_are_capped() -> None:
    """Each wait doubles until the cap."""
    run = Run(*[failed()] * 5, policy=RetryPolicy(first_delay_s=1, max_delay_s=6))
    assert run.answer() == DONE
    assert run.slept == [1, 2, 4, 6, 6]


def test_jitter_never_takes_more_than_half() -> None:
    """Two clients that failed together do not come back together, nor at once."""
    run = Run(failed(), failed(), rng=0.0)
    run.answer()
    assert run.slept == [0.5, 1.0]


def test_provider_is_waited_for_as_long_as_it_asks() -> None:
    """A wait that was asked for is never shortened."""
    run = Run(failed("rate_limit", 17), rng=0.0)
    run.answer()
    assert run.slept == [17]


def test_jitter_after_an_asked_wait_only_adds() -> None:
    """Everybody was told the same second."""
    run = Run(failed("rate_limit", 17), rng=1.0)
    run.answer()
    assert run.slept == [18]


def test_wait_of_zero_goes_on_at_once() -> None:
    """Zero means now."""
    run = Run(failed("overloaded", 0))
    run.answer()
    assert run.slept == [0]


def test_wait_that_is_too_long_is_not_waited_for() -> None:
    """Nobody wants to look at a still screen for an hour."""
    run = Run(failed("rate_limit", 3600))
    with pytest.raises(ModelError, match="rate_limit"):
        run.answer()
    assert run.slept == []


@pytest.mark.parametrize("kind", ["auth", "bad_request", "overflow", "quota"])
def test_hopeless_failures_are_not_tried_again(kind: str) -> None:
    """The same request would fail the same way."""
    run = Run(failed(kind))
    with pytest.raises(ModelError, match=kind):
        run.answer()
    assert run.client.tries == 1
    assert run.told == []


def test_last_failure_is_raised_when_tries_end() -> None:
    """Patience has an end, and the end has the reason."""
    run = Run(*[failed("network")] * 9, policy=RetryPolicy(attempts=3))
    with pytest.raises(ModelError, match="network"):
        run.answer()
    assert run.client.tries == 3
    assert len(run.slept) == 2


def test_each_retry_is_told_before_its_wait() -> None:
    """The person sees why nothing moves."""
    run = Run(failed("overloaded"), failed("network"))
    run.answer()
    assert [(attempt, reason) for attempt, _, reason in run.told] == [
        (1, "p/m: overloaded"),
        (2, "p/m: network"),
    ]
    assert [delay for _, delay, _ in run.told] == run.slept


def test_other_errors_pass_through() -> None:
    """A script that does not fit is no failure of a provider."""
    run = Run(ScriptError("no"))
    with pytest.raises(ScriptError):
        run.answer()


def test_info_is_the_clients() -> None:
    """Wrapping changes nothing else."""
    assert Run().retrying.info is INFO


def test_what_is_no_chance_is_tried_twice() -> None:
    """An answer that cannot be read comes again the same."""
    twice = ModelError("p/m: server: no answer", kind="server", tries=2)
    run = Run(twice, twice, twice)
    with pytest.raises(ModelError, match="no answer"):
        run.answer()
    assert run.client.tries == 2
