import os
from pathlib import Path

import pytest
from straight import open_straight


def found(path: Path | str) -> str | None:
    """Return what was opened, by the kernel's own name for it."""
    handle = open_straight(os.fsencode(path))
    if handle is None:
        return None
    try:
        return str(Path(f"/proc/self/fd/{handle}").readlink())
    finally:
        os.close(handle)


def test_directory_is_opened(tmp_path: Path) -> None:
    """However deep it lies."""
    deep = tmp_path.resolve() / "a" / "b" / "c"
    deep.mkdir(parents=True)

    assert found(deep) == str(deep)
    assert found("/") == "/"


@pytest.mark.parametrize("name", ["link", "link/below", "via/below", "file", "file/x", "missing"])
def test_anything_else_is_left_to_the_walk(tmp_path: Path, name: str) -> None:
    """A link anywhere on the way, a file, nothing at all."""
    real = tmp_path.resolve()
    (real / "real" / "below").mkdir(parents=True)
    (real / "link").symlink_to("real")
    (real / "via").symlink_to(real / "link")
    (real / "file").touch()

    assert found(real / name) is None


def test_links_of_the_kernel_are_links() -> None:
    """``/proc/self/root`` leads anywhere."""
    assert found(f"/proc/{os.getpid()}/root") is None
    assert found("/proc/self") is None


def test_path_is_never_cut_short(tmp_path: Path) -> None:
    """A NUL would end it for the kernel."""
    assert found(f"{tmp_path.resolve()}\0/x") is None


def test_handle_is_not_inherited(tmp_path: Path) -> None:
    """Nothing that the server starts may hold it."""
    handle = open_straight(os.fsencode(tmp_path.resolve()))

    assert handle is not None
    assert not os.get_inheritable(handle)
    os.close(handle)
