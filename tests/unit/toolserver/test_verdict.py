import pytest
from verdict import Use, disk_words, files_words, shown_size, use_of

MIB = 1024**2


def answer(size=10 * MIB, files=5, unsure=(), before=0, **places):
    none = {"largest": [], "fullest": []}
    return {"size": size, "before": before, "files": files, "unsure": list(unsure)} | none | places


def test_what_is_counted_is_all_where_all_could_be_counted():
    """The rest of the free space went to others of the host."""
    use = use_of(answer(), suspected=90 * MIB, suspected_files=900)

    assert (use.size, use.names) == (10 * MIB, 5)


def test_what_is_missing_is_the_boxs_where_something_could_not_be_looked_into():
    """Who hides answers for what went."""
    use = use_of(answer(unsure=["/w/hid"]), suspected=90 * MIB, suspected_files=900)

    assert (use.size, use.names) == (90 * MIB, 900)


def test_what_is_counted_stands_where_less_is_missing():
    """Others may have freed space meanwhile."""
    use = use_of(answer(unsure=["/w/hid"]), suspected=3 * MIB, suspected_files=1)

    assert (use.size, use.names) == (10 * MIB, 5)


def test_a_worker_that_was_killed_gives_no_count():
    """Its answer is an error; the watch then takes all for the box's."""
    assert use_of({"error": "gone", "code": "gone"}, suspected=1, suspected_files=0) is None


def test_words_say_how_much_and_where():
    """A person can act on them."""
    use = Use(10 * MIB, 4 * MIB, 5, ("/w/hid", "process 8"), 80 * MIB, 0)

    assert disk_words(use, own=MIB, budget=64 * MIB) == (
        "91.0 MiB of 64.0 MiB; 80.0 MiB of free space went while /w/hid, process 8 could not be "
        "looked into; 4.0 MiB of it were in the project's home before this session, see "
        "`glovebox home list` and `glovebox home rm` on the host"
    )


def test_words_say_that_a_closed_home_counts_as_full():
    """That space did not go, and is not said to have gone."""
    use = Use(10 * MIB, 0, 5, ("/home/agent/a",), 70 * MIB, 0)

    words = disk_words(use, own=0, budget=64 * MIB, assumed=64 * MIB)

    assert words == (
        "80.0 MiB of 64.0 MiB; 6.0 MiB of free space went while /home/agent/a could not be looked "
        "into; the project's home counts as full while /home/agent/a cannot be looked into"
    )


def test_plain_words_stay_short():
    """Nothing is told that does not matter."""
    use = use_of(answer(), suspected=0, suspected_files=0)

    assert disk_words(use, own=0, budget=8 * MIB) == "10.0 MiB of 8.0 MiB"
    assert files_words(use, limit=4) == "5 of 4 names in the workspace were made or changed"


def test_words_name_where_most_of_it_is():
    """Whoever has to make room knows where to begin."""
    places = {"largest": [["/w/a", 3 * MIB], ["/w/b", MIB], ["/w/d", 1]], "fullest": [["/w/c", 4]]}
    use = use_of(answer(**places), suspected=0, suspected_files=0)

    words = disk_words(use, own=0, budget=8 * MIB)
    assert words.endswith("; most in /w/a (3.0 MiB), /w/b (1.0 MiB)")
    assert files_words(use, limit=4).endswith("; most in /w/c (4)")


def test_words_on_files_name_the_doubt():
    """As for bytes."""
    use = use_of(answer(unsure=["/w/hid"]), suspected=0, suspected_files=9)

    assert files_words(use, limit=4).endswith(
        "9 of 4 names in the workspace were made or changed, as far as can be told while /w/hid "
        "could not be looked into"
    )


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 bytes"), (1024, "1.0 KiB"), (3 * 2**29, "1.5 GiB"), (2**60, "1048576.0 TiB")],
)
def test_sizes_read_well(count, shown):
    """With a unit."""
    assert shown_size(count) == shown
