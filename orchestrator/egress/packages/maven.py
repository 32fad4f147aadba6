"""maven: the repositories of its built-in model, or the mirrors that its settings put in place."""

from __future__ import annotations

import re

from orchestrator.egress.packages.client import (
    Client,
    Named,
    each_once,
    no_index,
    nothing_announced,
)

_COMMAND = r"""
command -v mvn >/dev/null || exit 127
home=$(mvn -v 2>/dev/null | sed -n 's/^Maven home: //p')
[ -n "$home" ] || exit 126
for file in "$home/conf/settings.xml" "$HOME/.m2/settings.xml"; do
    [ -r "$file" ] && cat "$file"
done
echo '<!--model-->'
for jar in "$home"/lib/maven-model-builder*.jar; do
    unzip -p "$jar" org/apache/maven/model/pom-4.0.0.xml && exit
    python3 -c 'import sys, zipfile
print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())' \
        "$jar" org/apache/maven/model/pom-4.0.0.xml && exit
done
exit 126
"""

_COMMENT = re.compile(r"<!--(?!model).*?-->", re.DOTALL)
_MIRROR = re.compile(r"<mirror>(.*?)</mirror>", re.DOTALL)
_REPOSITORY = re.compile(r"<(repository|pluginRepository)>(.*?)</\1>", re.DOTALL)
_URL = re.compile(r"<url>\s*(.*?)\s*</url>", re.DOTALL)
_OF = re.compile(r"<mirrorOf>\s*(.*?)\s*</mirrorOf>", re.DOTALL)
_BLOCKED = re.compile(r"<blocked>\s*true\s*</blocked>")
_FILE = re.compile(r"(?:^|/)([^/]+)/([^/]+)/(\1-\2[^/]*\.(?:jar|war|aar|ear|zip|tar\.gz))$")


def addresses(said: str) -> list[str]:
    """Return mirrors, repositories of the settings, and of the model; ValueError without any."""
    settings, _, model = _COMMENT.sub("", said).partition("<!--model-->")
    # Maven's own settings block plain http by a mirror that leads nowhere.
    mirrors = [found for found in _MIRROR.findall(settings) if not _BLOCKED.search(found)]
    found = [url for mirror in mirrors for url in _URL.findall(mirror)]
    found += _repositories(settings)
    replaced = {
        name.strip() for mirror in mirrors for of in _OF.findall(mirror) for name in of.split(",")
    }
    if not replaced & {"*", "central", "external:*"}:
        found += _repositories(model)
    if not each_once(found):
        raise ValueError("maven's settings name no repository")
    return each_once(found)


def _repositories(text: str) -> list[str]:
    return [url for _, inner in _REPOSITORY.findall(text) for url in _URL.findall(inner)]


def artefact(path: str) -> Named | None:
    """Return what an archive's place in a repository says: ``group/NAME/VERSION/NAME-VERSION.jar``."""
    found = _FILE.search(path)
    if found is None:
        return None
    group = path[: found.start()].strip("/").replace("/", ".")
    return Named(f"{group}:{found[1]}" if group else found[1], found[2], found[3])


MAVEN = Client("maven", _COMMAND, addresses, artefact, no_index, nothing_announced)
