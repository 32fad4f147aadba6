"""A pool's order is believed only whole."""

from pathlib import Path

import pytest

from orchestrator.errors import ConfigError
from orchestrator.harness.options import RunOptions
from orchestrator.harness.pool.order import Order, order_path, read_order

ORDER = Order(options=RunOptions(None, Path("/src/app"), ""), size=2, idle_s=60)


def test_order_is_read_back(tmp_path):
    """What `run` wrote is what the pool's process makes boxes of."""
    order_path(tmp_path, "abc").write_text(ORDER.model_dump_json())

    assert read_order(tmp_path, "abc") == ORDER


@pytest.mark.parametrize("text", [None, "", "{}", '{"size": 1}'])
def test_order_that_cannot_be_read_is_an_error(tmp_path, text):
    """With the command that makes one."""
    if text is not None:
        order_path(tmp_path, "abc").write_text(text)

    with pytest.raises(ConfigError, match="no order") as caught:
        read_order(tmp_path, "abc")

    assert "pool warm" in caught.value.hint
