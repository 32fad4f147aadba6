import pytest

from orchestrator.egress.chunks import MAX_LINE, MAX_TRAILERS, ChunkCheck
from orchestrator.egress.strict import MessageError


def checked(data, size):
    check = ChunkCheck()
    for at in range(0, len(data), size):
        check.feed(data[at : at + size])
    return check


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    "data",
    [
        b"0\r\n\r\n",
        b"3\r\nabc\r\n0\r\n\r\n",
        b"3\r\n\n\r\n\r\n0\r\n\r\n",
        b"A\r\n0123456789\r\n000\r\n\r\n",
        b"1;x=y;z\r\na\r\n0;last\r\n\r\n",
        b'1;x="y ;=z"\r\na\r\n0\r\n\r\n',
    ],
)
def test_a_body_ends_at_the_same_place_however_it_is_cut(data, size):
    check = checked(data, size)

    assert check.ended
    assert not check.trailers


@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize(
    "data",
    [
        b"\r\n",
        b"g\r\n",
        b" 1\r\n",
        b"1 \r\n",
        b"+1\r\n",
        b"1_0\r\n",
        b"0x1\r\n",
        b"1\n",
        b"1;a\rb\r\n",
        b"1;a\x00\r\n",
        b"1;\xb2\r\n",
        b"1;a b\r\n",
        b"1;\r\n",
        b"1;=a\r\n",
        b"1;a=\r\n",
        b'1;a="b\r\n',
        b"1" * 16 + b"\r\n",
        b"1\r\nab\r\n",
        b"1\r\na\n",
        b"0\r\n\n",
        b"0\r\nX: y\n",
        b"0\r\nX: \x00\r\n",
        b"1;" + b"a" * MAX_LINE,
        b"0\r\n" + b"a" * (MAX_TRAILERS + 1),
    ],
)
def test_lines_that_readers_differ_on_are_refused(data, size):
    with pytest.raises(MessageError):
        checked(data + b"\r\n" * 3, size)


def test_fields_after_the_body_are_noticed_and_what_follows_is_not_looked_at():
    check = checked(b"0\r\nX: y\r\n\r\n\x00\n", 4)

    assert check.ended
    assert check.trailers


def test_a_server_may_keep_room_for_a_longer_size():
    check = ChunkCheck(padded=True)
    check.feed(b"3   \r\nabc\r\n0  \r\n\r\n")

    assert check.ended
