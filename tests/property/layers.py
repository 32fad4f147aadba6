"""Ways to bury a command: shells, wrappers, languages, files, substitutions, control flow."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.property.spelling import double, single


@dataclass(frozen=True)
class Text:
    """Shell text; ``simple`` when it is one command that a wrapper can stand in front of."""

    code: str
    simple: bool


Layer = Callable[[Text, random.Random], Text]


def _quoted(text: str, chance: random.Random) -> str:
    return chance.choice([single, single, double])(text)


def _repr(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)


def _literal(text: str) -> str:
    """Return a string of Perl, Ruby or PHP in which nothing is filled in."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _template(*forms: str, simple: bool = False) -> Layer:
    """``{q}``: the text as one word; ``{t}``: as it stands; ``{j}``: as a JSON string, quoted."""

    def layer(text: Text, chance: random.Random) -> Text:
        form = chance.choice(forms)
        return Text(
            form.replace("{q}", _quoted(text.code, chance)).replace("{t}", text.code), simple
        )

    return layer


def _program(*forms: str) -> Layer:
    """``{s}`` in a program of another language is the text as a string of that language."""

    def layer(text: Text, chance: random.Random) -> Text:
        command, _, program = chance.choice(forms).partition(" :: ")
        code = program.replace("{s}", _repr(text.code)).replace("{k}", _literal(text.code))
        simple = "|" not in command and "\n" not in command
        return Text(command.replace("{p}", single(code)).replace("{raw}", code), simple)

    return layer


SHELLS = _template(
    "sh -c {q}", "bash -c {q}", "bash -lc {q}", "bash -ec {q}", "/bin/sh -c {q}", "dash -c {q}",
    "zsh -c {q}", "env bash -c {q}", "busybox sh -c {q}", "bash -c -- {q}", "bash -o pipefail -c {q}",
    "sh -c 'eval \"$1\"' _ {q}", "bash -c '$0 \"$@\"' sh -c {q}", "exec sh -c {q}",
    "command bash -c {q}", "nice -n 5 sh -c {q}", "A=1 sh -c {q}", "bash --norc -c {q}",
    simple=True,
)  # fmt: skip
EVALS = _template(
    "eval {q}", 'eval "eval $(printf %q {q})"', "eval -- {q}", "builtin eval {q}",
    'eval "$(echo {q})"', "trap {q} EXIT", "trap -- {q} 0", "trap {q} DEBUG; ls",
    "PROMPT_COMMAND={q} bash -i", "source /dev/stdin <<< {q}", ". /dev/stdin <<< {q}",
    "source <(echo {q})", ". <(printf '%s\\n' {q})", 'f=$(printf %s {q}); eval "$f"',
    'c={q}; eval "$c"', 'c={q}; sh -c "$c"', "mapfile -C {q} -c 1 lines",
)  # fmt: skip
FED = _template(
    "echo {q} | sh", "printf '%s\\n' {q} | bash", "printf %s {q} | sh -s", "bash <<< {q}",
    "sh -s -- a b <<< {q}", "echo {q} | tee /dev/null | sh", "echo {q} | cat | bash",
    "bash <(echo {q})", "sh < <(printf '%s\\n' {q})", "printf '%s' {q} > t.sh; sh t.sh",
    "echo {q} > t.sh && chmod +x t.sh && ./t.sh", "echo {q} > t.sh; . ./t.sh",
    "echo {q} > t.sh; bash < t.sh", "cat t 2>/dev/null; echo {q} | xargs -0 sh -c",
    "echo {q} | bash /dev/stdin", "printf '%s\\n' {q} | parallel", "at now <<< {q}",
    "echo {q} | at now + 1 minute", "ssh build@host.example {q}", "echo {q} | ssh host.example sh",
)  # fmt: skip
TOOLS = _template(
    "find . -maxdepth 0 -exec sh -c {q} \\;", "find . -name x -exec bash -c {q} _ {} +",
    "xargs -I% sh -c {q} < list", "ls | xargs -n1 sh -c {q}", 'env -S "sh -c" {q}',
    "watch -n 1 {q}", "script -qc {q} /dev/null", "flock lock -c {q}", "su -c {q}",
    "timeout 10 sh -c {q}", "nohup sh -c {q} &", "setsid sh -c {q}", "hyperfine {q}",
    "git rebase -x {q} main",
    "git submodule foreach {q}", "git filter-branch --tree-filter {q}", "git bisect run sh -c {q}",
    "npx -c {q}", "npm exec -c {q}", "nodemon --exec {q}", "tmux new-session -d {q}",
    "tmux send-keys -t x {q} Enter", "tar cf a.tar b --checkpoint=1 --checkpoint-action=exec={q}",
    "asciinema rec -c {q}", "ls | entr -s {q}", "screen -dmS x sh -c {q}", "dd of=t.sh <<< {q}; sh t.sh",
    "cp /dev/stdin t.sh <<< {q}; sh t.sh", "install -m755 <(echo {q}) t.sh; ./t.sh",
    "zellij run -- sh -c {q}", "watchman-make -p x --run {q}", "cp /bin/sh tool; ./tool -c {q}",
    "ln -s /bin/bash tool && ./tool -c {q}", "alias z='sh -c '; z {q}", "qemu-x86_64 /bin/sh -c {q}",
    "ssh-agent sh -c {q}", "find . -exec busybox sh -c {q} ';'", "xargs sh -c {q}",
    "printf '%s' {q} | xargs -0 -I{} sh -c {}", 'IFS= read -r l <<< {q}; eval "$l"',
    'while IFS= read -r l; do eval "$l"; done <<< {q}', 'for c in {q}; do sh -c "$c"; done',
    "nix-shell --run {q}", "concurrently {q}", "chronic sh -c {q}", "unknown-wrapper sh -c {q}",
    "/lib64/ld-linux-x86-64.so.2 /bin/sh -c {q}", "unbuffer sh -c {q}", "stdbuf -oL sh -c {q}",
    "coproc sh -c {q}", "GIT_SSH_COMMAND={q} git fetch", "PAGER={q} git log", "rsync -e {q} h:a b",
    "scp -o ProxyCommand={q} h:a .", "fd -x sh -c {q}", "parallel ::: {q}",
)  # fmt: skip
PREFIXES = _template(
    "env {t}", "env A=1 {t}", "env -i {t}", "nice {t}", "nohup {t}", "timeout 60 {t}",
    "timeout -k 5 -s KILL 1m {t}", "time {t}", "command {t}", "exec {t}", "stdbuf -oL {t}",
    "setsid {t}", "ionice -c 3 {t}", "chronic {t}", "sudo {t}", "sudo -u x -E {t}", "doas {t}",
    "busybox env {t}", "xargs {t} < list", "A=1 B=2 {t}", "! {t}", "strace -f {t}", "unbuffer {t}",
    "flock lock {t}", "\\command {t}", "taskset -c 0 {t}", "ld.so {t}", "torsocks -i {t}",
    "some-wrapper {t}", "other-wrapper --flag {t}", "watch -x {t}", "find . -exec {t} \\;",
    "find . -execdir {t} \\;", "xvfb-run -a {t}", "poetry run {t}", "uv run {t}", "bundle exec {t}",
    "npx --no-install {t}", "dotenv -e .env -- {t}", "hyperfine --runs 1 -- ls; {t}",
    "caffeinate -i {t}", "script -- {t}", "git submodule foreach {t}", "direnv exec . {t}",
)  # fmt: skip
BLOCKS = _template(
    "( {t} )", "{ {t}\n}", "if {t}\nthen :; fi", "if true; then\n{t}\nfi", "while {t}\ndo break; done",
    "until {t}\ndo break; done", "for i in 1 2; do\n{t}\ndone", "case x in\nx) {t}\n;; esac",
    "f() { {t}\n}; f", "function g {\n{t}\n}\ng a b", "f() ( {t}\n); f", "ls && {t}",
    "false || {t}", "ls; {t}", "cd sub && {t}", "# note\n{t}", "echo a\n{t}", "ls # note\n{t}",
    "{t} &", "coproc { {t}\n}", "select i in a; do\n{t}\ndone", "ls | { {t}\n}", "true\n\n\n{t}\n\n",
    "echo 'a\nb'; {t}", "cat <<'E'\ntext\nE\n{t}", "[[ -f x ]] && {t}", "((1)) && {t}",
    "f() {\n{t}\n}\ntrap f EXIT", "while read -r l; do\n{t}\ndone < list",
)  # fmt: skip
SUBSTITUTIONS = _template(
    "echo $({t}\n)", 'echo "$({t}\n)"', "x=$({t}\n)", 'export X="$({t}\n)"', ": ${x:-$({t}\n)}",
    "cat <({t}\n)", "tee >({t}\n) < f", "diff <({t}\n) f", "[[ -n $({t}\n) ]]", '[ "$({t}\n)" ]',
    "cat <<E\n$({t}\n)\nE", 'cat <<< "$({t}\n)"', "echo $(( $({t}\n) + 1 ))", "x[$({t}\n)]=1",
    "for i in $({t}\n); do :; done", "case $({t}\n) in x) ;; esac", "local x=$({t}\n)",
    'declare -r x="$({t}\n)"', 'ls > "$({t}\n)"', "A=$({t}\n) ls", "a=( $({t}\n) )",
    "printf '%s' \"${x:=$({t}\n)}\"", 'echo "a${b:+$({t}\n)}c"', "${x:-$({t}\n)}",
)  # fmt: skip
LANGUAGES = _program(
    "python3 -c {p} :: import os; os.system({s})",
    "python -c {p} :: import subprocess as s; s.run({s}, shell=True)",
    "python3 -c {p} :: __import__('os').popen({s})",
    "python3 - <<'PY'\n{raw}\nPY :: from os import system as z\nz({s})",
    "python3 -m timeit {p} :: import os; os.system({s})",
    "echo {p} | python3 :: import os; os.system({s})",
    "python3 -c {p} :: exec('import os; os.system(' + repr({s}) + ')')",
    "python3 -c {p} :: getattr(__import__('os'), 'system')({s})",
    "ruby -e {p} :: system({s})",
    "node -e {p} :: require('child_process').execSync({s})",
    "node --eval={p} :: const {execSync} = require('child_process'); execSync({s})",
    "lua -e {p} :: os.execute({s})",
    "awk {p} :: BEGIN { system({s}) }",
    "awk {p} f :: { print | {s} }",
    "php -r {p} :: system({s});",
    "elixir -e {p} :: System.shell({s})",
    "julia -e {p} :: run(Cmd(['sh', '-c', {s}]))",
    "Rscript -e {p} :: system({s})",
    "guile -c {p} :: (system {s})",
    "emacs --batch --eval {p} :: (shell-command {s})",
    "octave --eval {p} :: system({s})",
    "deno eval {p} :: new Deno.Command('sh', {args: ['-c', {s}]})",
    "swipl -g {p} :: shell({s})",
    "perl -e {p} :: system({k});",
    "perl -le {p} :: exec({k})",
    "perl -0777ne {p} f :: system {k}",
    "perl -e {p} :: my $c = {k}; system($c)",
    'perl -e {p} :: print "@{[system({k})]}"',
    "perl -MPOSIX -e {p} :: eval { system({k}) }",
    "ruby -W0 -e {p} :: exec({k})",
    'ruby -e {p} :: puts "#{system({k})}"',
    "php -r {p} :: passthru({k});",
    "node -e {p} :: require('child_process')['exec']({s})",
    "ocaml -e {p} :: Sys.command {s}",
    "expect -c {p} :: spawn sh -c {s}",
)


def encoded(text: Text, chance: random.Random) -> Text:
    """Hide the text in an encoding, and have it decoded and run."""
    data = text.code.encode()
    runner = chance.choice(["sh", "bash", "bash -s", "sh -"])
    octal = "".join(f"\\{byte:03o}" for byte in data)
    hexed = "".join(f"\\x{byte:02x}" for byte in data)
    forms = [
        f"echo {base64.b64encode(data).decode()} | base64 -d | {runner}",
        f"base64 --decode <<< {base64.b64encode(data).decode()} | {runner}",
        f'eval "$(echo {base64.b64encode(data).decode()} | base64 -d)"',
        f"bash <(echo {base64.b64encode(data).decode()} | base64 -d)",
        f"echo {data.hex()} | xxd -r -p | {runner}",
        f"printf '{octal}' | {runner}",
        f"printf '{hexed}' | {runner}",
        f"eval $'{hexed}'",
        f"sh -c \"$(printf '{octal}')\"",
        f"echo {base64.b64encode(data).decode()} | openssl enc -d -base64 -A | {runner}",
        f"echo {base64.b64encode(data).decode()} | python3 -m base64 -d | {runner}",
        f"echo {base64.b32encode(data).decode()} | base32 -d | {runner}",
    ]
    if text.code.isascii() and "\n" not in text.code:
        forms.append(f"echo {single(text.code[::-1])} | rev | {runner}")
    return Text(chance.choice(forms), simple=False)


def heredoc(text: Text, chance: random.Random) -> Text:
    """Hand the text to a reader by a heredoc."""
    mark = chance.choice(["E", "EOF", "'E'", '"EOF"', "\\END"])
    end = mark.strip("'\"\\")
    plain = mark == end
    code = (
        text.code.replace("\\", "\\\\").replace("$", "\\$").replace("`", "\\`")
        if plain
        else text.code
    )
    heads = [
        "sh",
        "bash -s",
        "sudo sh",
        "ssh h.example sh",
        "cat | sh",
        "cat > t.sh",
        "env sh",
        "sh -",
    ]
    head = chance.choice(heads)
    first, pipe, rest = head.partition(" | ")
    tail = "\nsh t.sh" if head == "cat > t.sh" else ""
    line = f"{first} <<{mark}{' | ' + rest if pipe else ''}"
    return Text(f"{line}\n{code}\n{end}{tail}", simple=False)


def makefile(text: Text, chance: random.Random) -> Text:
    """Make it a recipe."""
    code = text.code.replace("$", "$$")
    if "\n" in code:
        return SHELLS(text, chance)
    forms = [
        f"make -f - <<'E'\nall:\n\t{code}\nE",
        f"printf '%s\\n' 'all:' {single(chr(9) + code)} | make -f -",
        f"make --eval={single('all: ; ' + code)}",
    ]
    return Text(chance.choice(forms), simple=False)


def aliased(text: Text, chance: random.Random) -> Text:
    """Give it another name: git's aliases, the shell's, a function with arguments."""
    forms = [
        f"git -c {single('alias.z=!' + text.code)} z",
        f"git config alias.z {single('!' + text.code)}; git z",
        f"shopt -s expand_aliases\nalias z={single(text.code)}\nz",
        f'run() {{ "$@"; }}; run sh -c {single(text.code)}',
        f'run() {{ sh -c "$1"; }}; run {single(text.code)}',
        f'set -- {single(text.code)}; eval "$1"',
        f'set -- {single(text.code)}; sh -c "$@"',
        f'a=(sh -c {single(text.code)}); "${{a[@]}}"',
        f"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.z GIT_CONFIG_VALUE_0={single('!' + text.code)} git z",
    ]
    return Text(chance.choice(forms), simple=False)


LAYERS: tuple[Layer, ...] = (
    SHELLS, EVALS, FED, TOOLS, BLOCKS, BLOCKS, SUBSTITUTIONS, LANGUAGES, encoded, heredoc, makefile,
    aliased,
)  # fmt: skip


def bury(text: Text, chance: random.Random, *, deep: int) -> Text:
    """Put ``deep`` layers around a text."""
    for _ in range(deep):
        if text.simple and chance.random() < 0.4:
            text = PREFIXES(text, chance)
        else:
            text = chance.choice(LAYERS)(text, chance)
    return text
