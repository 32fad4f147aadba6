import pytest

from orchestrator.tools import ToolContext


@pytest.fixture
def context() -> ToolContext:
    return ToolContext(workdir="/workspace", max_timeout_s=600.0)
