import pytest
from config import InvalidHelloError, parse_config

HELLO = {
    "workdir": "/workspace",
    "home": "/home/agent",
    "spill_dir": "/tmp/.glovebox-spill",
    "read_roots": ["/opt/data"],
    "writable": ["/workspace"],
    "uid": 1000,
    "gid": 100,
    "exec_record": True,
    "environment": {"PATH": "/bin"},
    "limits": {"file_size": 1, "disk": 2, "files": 4, "output": 3},
}


def test_hello_becomes_settings():
    """Every field arrives where modules look for it."""
    config = parse_config(HELLO)

    assert (config.uid, config.gid, config.limits.disk) == (1000, 100, 2)
    assert config.read_roots == ("/opt/data",)


@pytest.mark.parametrize("ids", [{"uid": 0}, {"gid": 0}, {"uid": -1}])
def test_root_is_refused(ids):
    """The server never runs a command as root, whatever it is told."""
    with pytest.raises(InvalidHelloError, match="never run as root"):
        parse_config({**HELLO, **ids})


@pytest.mark.parametrize("name", HELLO)
def test_missing_field_is_refused(name):
    """A hello of another version does not half work."""
    with pytest.raises(InvalidHelloError, match=name):
        parse_config({key: value for key, value in HELLO.items() if key != name})
