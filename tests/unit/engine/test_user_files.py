import pytest

from orchestrator.engine.user_files import BoxUser, group_with, passwd_with

USER = BoxUser(1000, 50, "agent", "/home/agent", "/sh")
LINE = b"agent:x:1000:50:agent:/home/agent:/sh\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"root:x:0:0:root:/root:/bin/sh\n" + LINE),
        (b"root:x:0:0::/:/sh", b"root:x:0:0::/:/sh\n" + LINE),
        (b"root:x:0:0::/:/sh\nnode:x:1000:1::/:\n", b"root:x:0:0::/:/sh\n" + LINE + b"node:x:1000:1::/:\n"),
        (b"agent:x:7:7::/:/sh\nx:y:1:1::/:/\n", b"x:y:1:1::/:/\n" + LINE),
        (b"odd\n\xff\x00::\n", b"odd\n\xff\x00::\n" + LINE),
    ],
)  # fmt: skip
def test_user_comes_first_of_its_name_and_number(before, after):
    """A look-up by either finds it; everybody else stays, whatever the lines are like."""
    assert passwd_with(USER, before) == after


def test_group_is_named_by_its_own_number():
    """The group's number is not the user's."""
    assert group_with(USER, b"root:x:0:\nstaff:x:50:\n") == b"root:x:0:\nagent:x:50:\nstaff:x:50:\n"
    assert group_with(USER, b"") == b"root:x:0:\nagent:x:50:\n"
