from orchestrator.egress.inject.cookies import SeenCookies


def test_cookie_that_the_host_set_may_come_back():
    """With its value, among others, however it is spaced; to that host alone."""
    seen = SeenCookies()
    seen.note("a.example", "sid=1; Path=/; HttpOnly")
    seen.note("a.example", "theme=dark")

    assert seen.unknown("a.example", ["sid=1; theme=dark"]) is None
    assert seen.unknown("a.example", ["theme=dark;sid=1;"]) is None
    assert seen.unknown("a.example", ["sid=2"]) == "sid"
    assert seen.unknown("a.example", ["sid=1", "other=1"]) == "other"
    assert seen.unknown("b.example", ["sid=1"]) == "sid"
    assert seen.unknown("b.example", []) is None


def test_memory_of_cookies_is_bounded():
    """The oldest are forgotten, which refuses rather than lets pass."""
    seen = SeenCookies()
    for number in range(4097):
        seen.note("a.example", f"c{number}=1")

    assert seen.unknown("a.example", ["c0=1"]) == "c0"
    assert seen.unknown("a.example", ["c1=1"]) is None
