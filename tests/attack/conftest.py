import pytest

from tests.support.budgets import folder_on_disk


@pytest.fixture
def on_disk():
    """A workspace on the host's own file system, which no size limits."""
    with folder_on_disk() as folder:
        yield folder
