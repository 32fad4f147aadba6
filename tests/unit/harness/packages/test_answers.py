import pytest

from orchestrator.config.paths import Paths
from orchestrator.egress.packages.clients import CLIENTS
from orchestrator.harness.packages.answers import AnswerStore, ClientAnswer, places_in, read_answer
from orchestrator.schema.ids import Digest
from orchestrator.schema.packages import PackagePlace

IMAGE = Digest("sha256:" + "ab" * 32)


@pytest.fixture
def store(tmp_path):
    return AnswerStore(Paths(tmp_path / "state", tmp_path / "config"), IMAGE)


def test_answers_are_kept_by_image_and_client(store, tmp_path):
    """A later question for another client adds to them."""
    pip = ClientAnswer(("https://i.example:443/",))
    go = ClientAnswer(problem="not found in the box")
    store.keep({"pip": pip})
    store.keep({"go": go})
    other = AnswerStore(Paths(tmp_path / "state", tmp_path), Digest("sha256:" + "cd" * 32))

    assert store.read(["pip", "go", "npm"]) == {"pip": pip, "go": go}
    assert store.read(["npm"]) == {}
    assert other.read(["pip"]) == {}


@pytest.mark.parametrize("damage", [b"", b"{}", b"[]", b'{"answers": {"pip": {"urls": 5}}}'])
def test_a_file_that_cannot_be_read_is_no_answer(store, damage, tmp_path):
    """The image is asked again."""
    store.keep({"pip": ClientAnswer(("https://i.example:443/",))})
    (file,) = (tmp_path / "state" / "packages").iterdir()
    file.write_bytes(damage)

    assert store.read(["pip"]) == {}


def test_another_question_is_asked_again(store, tmp_path):
    """A newer version may ask a client in another way."""
    store.keep({"pip": ClientAnswer(("https://i.example:443/",))})
    (file,) = (tmp_path / "state" / "packages").iterdir()
    text = file.read_text()
    at = text.index('"asked":"') + 9
    file.write_text(text[:at] + "00" + text[at + 2 :])

    assert store.read(["pip"]) == {}


def test_no_password_is_kept():
    """It is the image's, and the client's to send."""
    answer = read_answer(CLIENTS["npm"], '{"registry": "https://me:pw@r.example/x"}')

    assert answer == ClientAnswer(("https://r.example:443/x/",))
    assert places_in({"npm": answer}) == (
        PackagePlace("npm", "https", "r.example", 443, "/x/", pages="/x/"),
    )


@pytest.mark.parametrize(
    ("said", "why"), [("no json", "cannot be read"), ('{"registry": "https://x:99999/"}', "plain")]
)
def test_what_cannot_be_read_is_told(said, why):
    """And nothing is let out for this client."""
    answer = read_answer(CLIENTS["npm"], said)

    assert why in answer.problem
    assert places_in({"npm": answer}) == ()
