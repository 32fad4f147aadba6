from orchestrator.workspace.surplus import Surplus


def taken(surplus: Surplus, *paths: str) -> list[str]:
    """Take names as a reading does; return those that are held in the end."""
    held: list[str] = []
    for path in paths:
        gone = set(surplus.make_room())
        held = [name for name in held if name not in gone]
        directory = path.rstrip("/").rpartition("/")[0]
        if surplus.take(path.rstrip("/"), directory, is_directory=path.endswith("/")):
            held.append(path)
    return held


def test_nothing_is_left_below_the_limit():
    """It is false then."""
    surplus = Surplus(3)

    assert taken(surplus, "a", "b", "c") == ["a", "b", "c"]
    assert not surplus


def test_heap_makes_room_for_the_others():
    """The directory with most names is left, also those of it that come later."""
    surplus = Surplus(10)
    heap = [f"heap/{number}" for number in range(9)]

    held = taken(surplus, "heap/", *heap, "heap/more", "src/", "src/a", "src/b")

    assert held == ["heap/", "src/", "src/a", "src/b"]
    assert list(surplus.samples()) == [("heap/0", 10)]


def test_directories_in_a_heap_are_still_taken():
    """What is in them is not the heap."""
    surplus = Surplus(4)

    held = taken(surplus, "1", "2", "3", "4", "5", "src/", "src/a")

    assert held == ["src/", "src/a"]


def test_last_names_are_left_where_there_is_no_heap():
    """Each directory tells of its own."""
    surplus = Surplus(20)
    names = [name for number in range(15) for name in (f"{number}/", f"{number}/x")]

    held = taken(surplus, *names)

    assert len(held) == 20
    assert sum(count for _, count in surplus.samples()) == 10
