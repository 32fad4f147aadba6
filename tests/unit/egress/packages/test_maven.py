import pytest

from orchestrator.egress.packages.client import Named
from orchestrator.egress.packages.maven import addresses, artefact

MODEL = (
    "<!--model--><repositories><repository><id>central</id><url>https://r.example/m</url>"
    "</repository></repositories><pluginRepositories><pluginRepository>"
    "<url> https://r.example/p </url></pluginRepository></pluginRepositories>"
)


def mirror(of):
    return (
        "<settings><!-- <mirror><url>https://no.example</url></mirror> --><mirrors><mirror>"
        f"<mirrorOf>{of}</mirrorOf><url>https://m.example/all</url></mirror></mirrors></settings>"
    )


def test_the_models_own_repositories_count_where_no_mirror_takes_their_place():
    """What is commented out does not."""
    assert addresses(MODEL) == ["https://r.example/m", "https://r.example/p"]
    assert addresses(mirror("internal") + MODEL)[0] == "https://m.example/all"
    assert len(addresses(mirror("internal") + MODEL)) == 3
    assert addresses(mirror("*") + MODEL) == ["https://m.example/all"]
    assert addresses(mirror("snapshots, central") + MODEL) == ["https://m.example/all"]


def test_a_mirror_that_blocks_is_no_server():
    """Maven keeps plain http away by one that leads nowhere."""
    blocker = mirror("external:http:*").replace("</url>", "</url><blocked>true</blocked>")

    assert addresses(blocker + MODEL) == ["https://r.example/m", "https://r.example/p"]


def test_a_maven_without_a_repository_is_an_error():
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="no repository"):
        addresses("<settings/><!--model-->")


def test_an_archive_says_what_it_is():
    """By its place in the repository; descriptions and checksums are no artefacts."""
    assert artefact("/maven2/org/acme/x-y/1.2/x-y-1.2-sources.jar") == Named(
        "maven2.org.acme:x-y", "1.2", "x-y-1.2-sources.jar"
    )
    assert artefact("/maven2/org/acme/x/1.2/x-1.2.pom") is None
    assert artefact("/maven2/org/acme/x/1.2/x-1.2.jar.sha1") is None
