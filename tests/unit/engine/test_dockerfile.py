import pytest

from orchestrator.engine.dockerfile import check_triggers, parse_dockerfile, plan_build
from orchestrator.errors import UsageError


def plan(text, **args):
    return plan_build(text, args=args, name="Dockerfile")


@pytest.mark.parametrize(
    ("text", "images"),
    [
        ("FROM debian:12", ("debian:12",)),
        ("from --platform=linux/amd64 debian:12 as build\nFROM build\n", ("debian:12",)),
        ("FROM a AS One\nFROM b\nCOPY --from=one /x /y\nCOPY --from=0 /x /y", ("a", "b")),
        ("FROM scratch\nCOPY --from=busybox:1 /bin/sh /sh", ("busybox:1",)),
        ("ARG V=12\nFROM debian:$V", ("debian:12",)),
        ("ARG V=12 W=x\nFROM debian:${V}-${W:-slim}", ("debian:12-x",)),
        ("ARG V\nFROM debian:${V:-11}", ("debian:11",)),
        ("# a comment\n\nFR\\\n# another\nOM debi\\  \nan:12", ("debian:12",)),
        ("FROM a\nONBUILD COPY --from=b /x /y", ("a", "b")),
        ("FROM later\nFROM x AS later", ("later", "x")),
        ('FROM a\nCOPY ["--from=no", "b", "/c"]', ("a",)),
    ],
)
def test_every_image_that_the_engine_would_fetch_is_named(text, images):
    """Stages are no images, and an alias counts only after its stage."""
    assert plan(text).images == images


def test_build_arguments_fill_declared_ones_alone():
    """The engine takes an undeclared one for empty; so it is refused here."""
    assert plan("ARG V=1\nFROM a:$V", V="2").images == ("a:2",)
    with pytest.raises(UsageError, match=r"Dockerfile:1: FROM a:\$V: \$V has no value"):
        plan("FROM a:$V", V="2")


@pytest.mark.parametrize(
    "text",
    [
        "FROM a:${V:+x}",
        "ARG A=a\nARG B=$A\nFROM $B",
        "FROM",
        "FROM a\nARG V=b\nCOPY --from=$V /x /y",
        "ARG 'V=1\nFROM a",
        "# escape=`\nFROM a",
        "FROM a\nRUN <<EOF\nls\nEOF",
        "FROM a\nLABEL x=y \\\u2028\nFROM b",
        "FROM a\nLABEL x=y \\\r\r\nFROM b",
        "FROM a\nLABEL x=y \\\x0c\nFROM b",
        "FROM a\nLABEL x=y \\\\\nFROM b",
        "FROM a\nRUN true \\\n\x1c# x\nFROM b",
        "FROM a\nADD\x0bhttp://example.com/x /x",
        'FROM a\nCOPY --fr"o"m=b /x /x',
        "FROM a\nCOPY --f\\rom=b /x /x",
        'FROM --platform="linux/amd64 a" b',
        "FROM a\nADD http:\\/\\/example.com/x /x",
        'FROM a\nADD http:"//"example.com/x /x',
        'FROM a\nADD ["http:\\\\/\\\\/example.com/x", "/x"]',
        'FROM a\nADD ["http:\\u002f\\u002fexample.com/x", "/x"] more',
        'FROM a\nADD [NaN, "http://example.com/x" ]',
    ],
)
def test_what_cannot_be_told_is_refused_with_its_line(text):
    """A guess might be wrong, and the engine would fetch the other thing.

    An engine was seen to download or pull for each of the odd ones.
    """
    with pytest.raises(UsageError, match=r"Dockerfile:\d"):
        plan(text)


@pytest.mark.parametrize(
    "source",
    [
        "https://example.com/x",
        "HTTP://example.com/x",
        "git@github.com:x/y",
        "github.com/x/y",
        "$URL",
        "${URL}",
    ],
)
@pytest.mark.parametrize("form", ["ADD {} /x", "ADD --chown=1 a {} /x", 'ONBUILD ADD ["{}", "/x"]'])
def test_downloads_are_refused(form, source):
    """The engine itself would download it: a build without a network does not keep that in."""
    with pytest.raises(UsageError, match="a build downloads nothing"):
        plan(f"FROM a\n{form.format(source)}")


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("FROM a\nRUN ls", ()),
        ("FROM a\nCOPY requirements.txt ./src/ /app/", ("requirements.txt", "src")),
        ('FROM a\nADD ["a b", "/x"]', ("a b",)),
        ("FROM a\nCOPY --from=a /x /y", ()),
        ("FROM a\nCOPY . /app", None),
        ("FROM a\nCOPY / /app", None),
        ("FROM a\nCOPY *.txt /app", None),
        ("FROM a\nCOPY $X /app", None),
    ],
)
def test_context_is_no_larger_than_what_is_copied(text, sources):
    """A question about a file that the build never sees would come again for nothing."""
    assert plan(text).sources == sources


def test_lines_are_those_of_the_file():
    """A continued instruction counts from its first line."""
    found = parse_dockerfile("\ufeff# x\nFROM a\n\nRUN a \\\n  b\nCMD c", name="d")

    assert [(item.line, item.word, item.rest) for item in found] == [
        (2, "FROM", "a"),
        (4, "RUN", "a   b"),
        (6, "CMD", "c"),
    ]


def test_triggers_of_a_base_may_not_fetch():
    """ONBUILD of the base runs in every build upon it."""
    check_triggers(["RUN ls", "COPY . /app"], image="base")
    with pytest.raises(UsageError, match="ONBUILD of base: it copies from image other"):
        check_triggers(["COPY --from=other / /"], image="base")
    with pytest.raises(UsageError, match="a build downloads nothing"):
        check_triggers(["ADD http://x /y"], image="base")
