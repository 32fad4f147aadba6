from pathlib import Path

import pytest

from tests.support.boxed_files import BoxedFiles


@pytest.fixture
def box(tmp_path: Path) -> BoxedFiles:
    return BoxedFiles(tmp_path)
