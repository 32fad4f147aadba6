"""What a call in Python code does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from orchestrator.shell.languages.effect import Effect, Kind
from orchestrator.shell.languages.python_names import Names
from orchestrator.shell.quoting import DYNAMIC

_SHELL = re.compile(
    r"(os|posix|nt)\.(system|popen)|subprocess\.(getoutput|getstatusoutput)|commands\.\w+"
    r"|popen2\.\w+|asyncio\.create_subprocess_shell|asyncio\.subprocess\.create_subprocess_shell"
    r"|platform\.popen|pexpect\.(run|runu|spawnu?)|IPython\..*\.system|sh\.bash|invoke\.run"
)
_ARGV = re.compile(
    r"subprocess\.(run|call|check_call|check_output|Popen)|pty\.spawn|plumbum\..*"
    r"|asyncio\.(create_subprocess_exec|subprocess\.create_subprocess_exec)|anyio\.(run|open)_process"
)
_SPAWN = re.compile(r"(os|posix)\.(exec|spawn|posix_spawn)(l|le|lp|lpe|v|ve|vp|vpe|p)?")
_EVAL = re.compile(r"(builtins\.|__builtins__\.)?(exec|eval|compile|execfile)")
_TREES = re.compile(
    r"shutil\.rmtree|os\.removedirs|distutils\.dir_util\.remove_tree|send2trash\.\w+"
)
_FILES = re.compile(
    r"(os|posix)\.(remove|unlink)|.*Path\(\)(\.\w+\(\))*\.unlink|pathlib\..*\.unlink"
)
_MOVES = re.compile(r"(os|posix)\.(rename|renames|replace)|shutil\.move")
_COPIES = re.compile(r"shutil\.(copy|copy2|copyfile|copytree)|os\.(symlink|link)")
_OPENS = re.compile(r"(builtins\.|io\.|codecs\.|gzip\.|bz2\.|lzma\.)?open|os\.open|.*\.open")
_UPLOADS = re.compile(
    r"(requests|httpx|aiohttp|urllib3)(\.\w+(\(\))?)*\.(post|put|patch|delete|request)"
    r"|(smtplib|ftplib|paramiko|telnetlib)\.\w+|socket\.(socket|create_connection)"
)
_LOADERS = re.compile(
    r"(pickle|cPickle|dill|marshal|shelve|joblib|cloudpickle)\.(loads?|open)|ctypes\.\w*(CDLL|LoadLibrary|cdll|windll)\w*.*"
    r"|importlib\.util\.spec_from_file_location|imp\.load_\w+|runpy\.run_\w+|breakpoint|i?pdb\.(set_trace|run\w*)|code\.\w*[iI]nteract\w*|timeit\.timeit"
)
_FETCH = re.compile(r"(urllib\.request|urllib2|requests|httpx)\.(urlopen|urlretrieve|get)\b")
_KILLS = re.compile(r"os\.(kill|killpg)")
_PRIVILEGE = re.compile(
    r"os\.(setuid|seteuid|setgid|setreuid|setresuid|chroot|mount|unshare|setns)"
)
_POWERFUL = frozenset({"os", "posix", "subprocess", "shutil", "pty", "commands", "ctypes", "runpy"})
_WRITERS = frozenset({"write_text", "write_bytes", "touch"})
_READERS = frozenset({"read_text", "read_bytes"})


def judge_call(node: ast.Call, names: Names) -> Iterator[Effect]:
    """Yield what the call does; nothing for calls that matter to nobody."""
    name = names.dotted(node.func)
    if DYNAMIC in name:
        yield _effect("opaque", reason="calls something whose name is computed")
    elif _SHELL.fullmatch(name):
        yield _effect("shell", text=names.text(_argument(node, 0, "cmd", "command")))
    elif _ARGV.fullmatch(name):
        yield _started(node, names)
    elif _SPAWN.fullmatch(name):
        yield _spawned(node, names, name)
    elif _EVAL.fullmatch(name):
        yield from _evaluated(node, names)
    else:
        if _sends_data(node, name):
            yield _effect("upload", reason=f"sends data to another machine: {name}")
        found = list(_file_call(node, names, name))
        yield from found or _rarer(name)


def _file_call(node: ast.Call, names: Names, name: str) -> Iterator[Effect]:
    """Yield what a call does to files."""
    last = name.rpartition(".")[2]
    method = node.func.value if isinstance(node.func, ast.Attribute) else None
    if _TREES.fullmatch(name):
        yield _effect("delete_tree", text=names.text(_argument(node, 0, "path", "name")))
    elif _FILES.fullmatch(name):
        yield _effect("delete", text=_subject(node, names))
    elif last in {"unlink", "rmdir"} and method is not None and not node.args:
        yield _effect("delete", text=names.text(method))
    elif _MOVES.fullmatch(name):
        yield _effect("move", text=names.text(_argument(node, 0, "src")))
        yield _effect("write", text=names.text(_argument(node, 1, "dst")))
    elif _COPIES.fullmatch(name):
        yield _effect("read", text=names.text(_argument(node, 0, "src")))
        yield _effect("write", text=names.text(_argument(node, 1, "dst")))
    elif last in _WRITERS and method is not None:
        yield _effect("write", text=names.text(method))
    elif last in _READERS and method is not None:
        yield _effect("read", text=names.text(method))
    elif _OPENS.fullmatch(name):
        yield from _opened(node, names)


def _sends_data(node: ast.Call, name: str) -> bool:
    """Say whether a request of the standard library carries a body."""
    if re.fullmatch(r"http\.client\.HTTPS?Connection\(\)\.request", name):
        return len(node.args) > 2 or any(item.arg == "body" for item in node.keywords)
    if not re.fullmatch(r"urllib\.request\.(urlopen|Request)|urllib2\.(urlopen|Request)", name):
        return False
    return len(node.args) > 1 or any(item.arg == "data" for item in node.keywords)


def _rarer(name: str) -> Iterator[Effect]:
    table: tuple[tuple[re.Pattern[str], Kind, str], ...] = (
        (_UPLOADS, "upload", "sends data to another machine"),
        (_LOADERS, "opaque", "loads code from data or a file"),
        (_KILLS, "destructive", "kills processes"),
        (_PRIVILEGE, "privilege", "changes its own rights"),
    )
    for pattern, kind, reason in table:
        if pattern.fullmatch(name):
            yield _effect(kind, reason=f"{reason}: {name}")
    if name == "os.truncate" or name.endswith(".truncate"):
        yield _effect("destructive", reason="empties a file")
    elif name in {"os.fork", "os.forkpty"}:
        yield _effect("exhaustion", reason="forks by hand")


def judge_mention(node: ast.Attribute | ast.Name, names: Names) -> Iterator[Effect]:
    """Yield what handing a dangerous function to somebody else may do."""
    if isinstance(node, ast.Name) and node.id not in names.modules and node.id not in {
        "exec", "eval", "__import__",
    }:  # fmt: skip
        return
    name = names.dotted(node)
    if any(pattern.fullmatch(name) for pattern in (_SHELL, _ARGV, _SPAWN, _EVAL, _TREES, _FILES)):
        yield _effect("opaque", reason=f"hands out {name}, so that its arguments cannot be seen")


def judge_import(node: ast.Import | ast.ImportFrom) -> Iterator[Effect]:
    """Yield what importing a module does by itself; nothing for ordinary ones."""
    if isinstance(node, ast.ImportFrom):
        modules = [node.module or ""]
        if modules[0] in _POWERFUL and any(item.name == "*" for item in node.names):
            yield _effect("opaque", reason=f"every name may be one of {modules[0]}")
    else:
        modules = [item.name for item in node.names]
    if any(module.split(".")[0] in {"pip", "ensurepip"} for module in modules):
        yield _effect("remote_code", reason="installs packages from inside Python")


def _effect(kind: Kind, *, text: str = "", words: tuple[str, ...] = (), reason: str = "") -> Effect:
    return Effect(kind, 0, 0, text, words, reason)


def _argument(node: ast.Call, index: int, *keywords: str) -> ast.expr | None:
    if index < len(node.args):
        return node.args[index]
    return next((item.value for item in node.keywords if item.arg in keywords), None)


def _subject(node: ast.Call, names: Names) -> str:
    """Return what is deleted: the first argument, or the object of a method."""
    first = _argument(node, 0, "path")
    if first is not None:
        return names.text(first)
    return names.text(node.func.value) if isinstance(node.func, ast.Attribute) else DYNAMIC


def _started(node: ast.Call, names: Names) -> Effect:
    target = _argument(node, 0, "args", "argv", "program", "command")
    if any(item.arg in {"input", "stdin"} for item in node.keywords):
        fed = names.words(target) or (names.text(target),)
        return _effect("pipe", text=" ".join(fed))
    words = names.words(target)
    if words is None and len(node.args) > 1 and names.dotted(node.func).endswith("_exec"):
        words = tuple(names.text(item) for item in node.args)
    if words is not None:
        return _effect("argv", words=words)
    return _effect("shell", text=names.text(target))


def _spawned(node: ast.Call, names: Names, name: str) -> Effect:
    """Read ``os.exec*`` and ``os.spawn*``: path, then argument list or arguments."""
    arguments = node.args[1:] if ".spawn" in name else node.args
    if not arguments:
        return _effect("opaque", reason="starts a program that is computed")
    program = names.text(arguments[0])
    listed = names.words(arguments[1]) if len(arguments) > 1 else ()
    words = listed if listed is not None else tuple(names.text(item) for item in arguments[1:])
    return _effect("argv", words=(program, *words[1:]))


def _evaluated(node: ast.Call, names: Names) -> Iterator[Effect]:
    code = names.text(_argument(node, 0, "source"))
    if DYNAMIC not in code:
        yield _effect("python", text=code)
        return
    called = [names.dotted(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)]
    if any(_FETCH.match(name) for name in called):
        yield _effect("remote_code", reason="runs code that it fetches")
    else:
        yield _effect("opaque", reason="runs code that is computed")


def _opened(node: ast.Call, names: Names) -> Iterator[Effect]:
    method = isinstance(node.func, ast.Attribute) and names.dotted(node.func.value) not in {
        "io", "codecs", "gzip", "bz2", "lzma", "os", "builtins",
    }  # fmt: skip
    if method and isinstance(node.func, ast.Attribute):
        path, mode = names.text(node.func.value), _argument(node, 0, "mode")
    else:
        path, mode = names.text(_argument(node, 0, "file")), _argument(node, 1, "mode")
    modes = names.text(mode) if mode is not None else "r"
    writes = any(letter in modes for letter in "wax+") or "O_WR" in modes or "O_RDWR" in modes
    yield _effect("write" if writes else "read", text=path)
