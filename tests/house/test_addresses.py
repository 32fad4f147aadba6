import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pip._internal.models.index import PyPI


def output(*command: str) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return result.stdout


def pip_hosts() -> set[str]:
    """The default index, where its files lie, and whatever this machine's settings name."""
    settings = output(sys.executable, "-m", "pip", "config", "list")
    return {PyPI.netloc, PyPI.file_storage_domain} | url_hosts(settings)


def npm_hosts() -> set[str]:
    npm = shutil.which("npm")
    return url_hosts(output(npm, "config", "get", "registry")) if npm else set()


def apt_hosts() -> set[str]:
    folder = Path("/etc/apt")
    lists = [*folder.glob("sources.list"), *folder.glob("sources.list.d/*")]
    return {host for path in lists for host in url_hosts(path.read_text())}


def url_hosts(text: str) -> set[str]:
    found = (urlsplit(url).hostname for url in re.findall(r"\w+://[^\s'\"<>]+", text))
    return {host for host in found if host and "." in host}


@pytest.fixture(scope="module")
def texts(tracked, root) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_bytes().decode("utf-8", "replace").lower()
        for path in tracked
    }


@pytest.mark.parametrize("client", [pip_hosts, npm_hosts, apt_hosts])
def test_no_registry_is_written_down(client, texts):
    """Hosts of package registries come from each machine's own settings, so that mirrors work."""
    hosts = client()
    written = [f"{name}: {host}" for name, text in texts.items() for host in hosts if host in text]

    assert written == []


def test_default_index_is_looked_for():
    """The rule above looks for something even on a machine without settings."""
    assert len(pip_hosts()) >= 2


def test_no_path_of_this_checkout_is_written_down(texts, root):
    """Nothing depends on where one person cloned."""
    place = str(root).lower()
    if len(root.parts) < 3:
        place += "/orchestrator"

    assert [name for name, text in texts.items() if place in text] == []
