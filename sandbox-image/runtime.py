"""Makes /opt/glovebox/runtime: a Python, a ripgrep and every library both need, with their loader.

Runs once, as root, while the image is built. The result depends on no file outside of it, so that
the tool server starts the same in every image, whatever loader, libraries and Python that one has,
and so that nothing of that image runs with the server's powers.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

TARGET = Path("/opt/glovebox/runtime")
SKIPPED_MODULES = [
    "config-*",
    "dist-packages",
    "distutils",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "sitecustomize.py",
    "sqlite3",
    "test",
    "tkinter",
    "turtledemo",
    "venv",
    "wsgiref",
    "xmlrpc",
    "__pycache__",
    "EXTERNALLY-MANAGED",
    "lib-dynload",
]
KEPT_EXTENSIONS = [
    "_asyncio",
    "_bisect",
    "_blake2",
    "_bz2",
    "_contextvars",
    "_csv",
    "_ctypes",
    "_datetime",
    "_decimal",
    "_elementtree",
    "_heapq",
    "_json",
    "_lzma",
    "_md5",
    "_multiprocessing",
    "_opcode",
    "_pickle",
    "_posixshmem",
    "_posixsubprocess",
    "_queue",
    "_random",
    "_sha1",
    "_sha256",
    "_sha3",
    "_sha512",
    "_socket",
    "_statistics",
    "_struct",
    "_typing",
    "_uuid",
    "_zoneinfo",
    "array",
    "binascii",
    "cmath",
    "fcntl",
    "grp",
    "math",
    "mmap",
    "pyexpat",
    "resource",
    "select",
    "syslog",
    "termios",
    "unicodedata",
    "zlib",
]
"""Named one by one: OpenSSL's, for one, would read a configuration of the image that loads code."""
PILLOW_EXTENSIONS = ["_imaging", "_imagingmath", "_webp"]
PRELOAD = b"/etc/ld.so.preload\0"
NO_PRELOAD = b"/opt/glovebox/.no0\0"
"""A path of the same length that no image has: the loader takes no list of libraries from one."""


def main() -> None:
    """Copy, then prove that it starts."""
    shutil.rmtree(TARGET, ignore_errors=True)
    binaries = [copy_program(Path(sys.executable).resolve(), "python3")]
    binaries.append(copy_program(Path(shutil.which("rg") or sys.exit("no ripgrep")), "rg"))
    binaries += copy_stdlib(Path(sysconfig.get_path("stdlib")))
    binaries += copy_pillow()
    loader = copy_libraries(binaries)
    copy_loader(loader)
    shutil.copy("/bin/bash-static", "/opt/glovebox/bash")
    prove()


def copy_program(source: Path, name: str) -> Path:
    """Copy a program and return the copy."""
    target = TARGET / "bin" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    return target


def copy_stdlib(source: Path) -> list[Path]:
    """Copy the standard library; returns its extension modules."""
    target = TARGET / "lib" / source.name
    ignore = shutil.ignore_patterns(*SKIPPED_MODULES)
    shutil.copytree(source, target, ignore=ignore)
    return copy_extensions(source / "lib-dynload", target / "lib-dynload", KEPT_EXTENSIONS)


def copy_pillow() -> list[Path]:
    """Copy what decodes and scales pictures; returns its extension modules."""
    import PIL  # noqa: PLC0415 - only this part needs it

    source = Path(PIL.__path__[0])
    target = TARGET / "packages" / "PIL"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return copy_extensions(source, target, PILLOW_EXTENSIONS)


def copy_extensions(source: Path, target: Path, names: list[str]) -> list[Path]:
    """Copy the named extension modules; one that this Python has built in may be missing."""
    target.mkdir(exist_ok=True)
    found = [path for path in source.glob("*.so") if path.name.split(".")[0] in names]
    return [Path(shutil.copy(path, target)) for path in found]


def copy_libraries(binaries: list[Path]) -> Path:
    """Copy every shared library the binaries load, theirs too; returns the loader's path."""
    loader = None
    folder = TARGET / "libraries"
    folder.mkdir()
    for binary in binaries:
        listed = subprocess.run(["ldd", binary], check=True, capture_output=True, text=True).stdout
        if "not found" in listed:
            sys.exit(f"runtime: {binary}: {listed}")
        for name, path in re.findall(r"(\S+) => (/\S+) \(", listed):
            shutil.copy(path, folder / name)
        for path in re.findall(
            r"^\s*(/\S+/ld-linux\S+|/\S+/ld\d*\.so\S*) \(", listed, re.MULTILINE
        ):
            loader = Path(path)
    if loader is None:
        sys.exit("runtime: no loader found")
    return loader


def copy_loader(source: Path) -> None:
    """Copy the loader without its list of libraries to load into every program."""
    data = source.read_bytes()
    if data.count(PRELOAD) != 1:
        sys.exit(f"runtime: {source}: expected {PRELOAD!r} once, got {data.count(PRELOAD)}")
    target = TARGET / "ld.so"
    target.write_bytes(data.replace(PRELOAD, NO_PRELOAD))
    target.chmod(0o755)


def prove() -> None:
    """Start Python as the session does; fails the build where a part is missing."""
    start: list[str | Path] = [
        TARGET / "ld.so",
        "--inhibit-cache",
        "--library-path",
        TARGET / "libraries",
    ]
    probe = (
        "import sys, json, ctypes, socket, subprocess, struct, fcntl, termios, hashlib;"
        f"sys.path.append('{TARGET}/packages');"
        "from PIL import Image, ImageOps, JpegImagePlugin, PngImagePlugin, WebPImagePlugin, GifImagePlugin;"
        "Image.new('RGB', (9, 9)).thumbnail((3, 3));"
        f"strange = [p for p in sys.path if not p.startswith('{TARGET}')];"
        "maps = [line.split()[-1] for line in open('/proc/self/maps') if '/' in line];"
        f"strange += [m for m in maps if not m.startswith('{TARGET}')];"
        "sys.exit(f'runtime: from elsewhere: {strange}' if strange else 0)"
    )
    python = [*start, TARGET / "bin" / "python3", "-I", "-S", "-B", "-c", probe]
    subprocess.run(python, check=True, env={"LC_ALL": "C"})
    subprocess.run(
        [*start, TARGET / "bin" / "rg", "--version"], check=True, env={}, stdout=subprocess.DEVNULL
    )
    subprocess.run(["/opt/glovebox/bash", "-c", "exit 0"], check=True, env={})


if __name__ == "__main__":
    os.umask(0o022)
    main()
