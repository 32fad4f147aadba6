import anyio
import pytest

from orchestrator.egress.dialing import AddressRefusedError, Dialing, UnreachableError
from orchestrator.egress.limits import Limits
from orchestrator.egress.scripted import ScriptedDialer, ScriptedResolver
from orchestrator.egress.targets import Place

PLACE = Place("https", "a.example", 443)


def dial(names, places, *, place=PLACE, private=(), turns=None):
    resolver = ScriptedResolver({"a.example": names}, turns=turns)
    dialer = ScriptedDialer(dict.fromkeys(places))

    async def run():
        dialing = Dialing(resolver, dialer, Limits())
        return await dialing.connect(place, private)

    return (lambda: anyio.run(run)), resolver, dialer


def test_a_name_is_looked_up_once_and_the_checked_address_dialled():
    """An answer that flips at the second look-up is never heard."""
    go, resolver, dialer = dial(
        [], [("203.0.113.1", 443)], turns={"a.example": [["203.0.113.1"], ["127.0.0.1"]]}
    )

    assert go().address == "203.0.113.1"
    assert resolver.asked == ["a.example"]
    assert dialer.dialled == [("203.0.113.1", 443)]


@pytest.mark.parametrize(
    "names",
    [
        ["10.0.0.1"],
        ["203.0.113.1", "192.168.0.7"],
        ["203.0.113.1", "::1"],
        ["169.254.169.254"],
        ["::ffff:127.0.0.1"],
        ["no address"],
    ],
)
def test_one_refused_address_spoils_the_set(names):
    """Nothing is dialled, and the box does not learn the address."""
    go, _, dialer = dial(names, [("203.0.113.1", 443)])

    with pytest.raises(AddressRefusedError) as caught:
        go()
    assert dialer.dialled == []
    assert names[0] not in str(caught.value)


def test_a_private_range_is_open_where_the_rule_opens_it():
    go, _, _ = dial(["10.0.0.1"], [("10.0.0.1", 443)], private=("10.0.0.0/8",))

    assert go().address == "10.0.0.1"


def test_the_next_address_is_tried_where_one_fails():
    go, _, dialer = dial(["203.0.113.1", "2001:db8::1"], [("2001:db8::1", 443)])

    assert go().address == "2001:db8::1"
    assert [address for address, _ in dialer.dialled] == ["203.0.113.1", "2001:db8::1"]


def test_an_address_is_not_looked_up():
    go, resolver, _ = dial([], [("203.0.113.9", 443)], place=Place("https", "203.0.113.9", 443))

    assert go().address == "203.0.113.9"
    assert resolver.asked == []


@pytest.mark.parametrize(("names", "kind"), [([], "dns"), (["203.0.113.1"], "connect")])
def test_what_cannot_be_reached_says_why(names, kind):
    go, _, _ = dial(names, [])

    with pytest.raises(UnreachableError) as caught:
        go()
    assert (caught.value.kind, caught.value.status) == (kind, 502)


class Silent(ScriptedDialer):
    """One address never answers."""

    async def dial(self, address, port):
        if address == "203.0.113.1":
            self.dialled.append((address, port))
            await anyio.sleep_forever()
        return await super().dial(address, port)


def race(names, places):
    async def run():
        dialer = Silent(dict.fromkeys(places))
        resolver = ScriptedResolver({"a.example": names})
        limits = Limits(stagger_s=0.05, connect_s=0.3)
        return await Dialing(resolver, dialer, limits).connect(PLACE, ())

    return anyio.run(run)


def test_an_address_that_keeps_silent_is_not_waited_for():
    assert race(["203.0.113.1", "203.0.113.2"], [("203.0.113.2", 443)]).address == "203.0.113.2"


def test_silence_alone_is_a_time_out():
    with pytest.raises(UnreachableError) as caught:
        race(["203.0.113.1"], [])
    assert (caught.value.kind, caught.value.status) == ("timeout", 504)
