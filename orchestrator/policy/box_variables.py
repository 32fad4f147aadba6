"""Variables that a placeholder must not stand in: what steers programs, or is the box's own."""

from __future__ import annotations

import re

from orchestrator.shell.variables import steers_programs

_CREDENTIAL = re.compile(r"\w+_(?:TOKEN|PAT|PASS|PASSWORD|PASSWD|USERNAME|SECRET|KEY)")
"""``GIT_TOKEN`` and ``CARGO_REGISTRIES_X_TOKEN`` steer nothing, whatever their kin does."""

_BOX = re.compile(
    r"\w+_PROXY|SSL_CERT_(?:FILE|DIR)|\w+_CA_BUNDLE|\w+_CA_CERTS?|\w+_(?:SSL_)?CAINFO|\w+_CAFILE"
    r"|\w+_CACERTS_PATH|\w+_CA_CERTS_FILE|PIP_CERT|DENO_CERT|NIX_SSL_CERT_FILE|BUNDLE_SSL_CA_CERT"
    r"|GRPC_DEFAULT_SSL_ROOTS_FILE_PATH|PERL_LWP_SSL_\w+|UV_NATIVE_TLS|NODE_USE_ENV_PROXY"
    r"|JAVA_TOOL_OPTIONS",
    re.IGNORECASE,
)
"""How programs in it find the way out, and whom they believe there."""

_STEERING = re.compile(
    r"PATH|HOME|IFS|SSLKEYLOGFILE|PWD|OLDPWD|CDPATH|USER|LOGNAME|HOSTNAME|UID|EUID|PPID|SHLVL|TERM|LANG|LANGUAGE|TZ"
    r"|TMPDIR|TMP|TEMP|ENV|PS[0124]|GLOBIGNORE|LC_\w+|LD_\w+|DYLD_\w+|XDG_\w+|BASH\w*|PYTHON[A-Z]\w*"
    r"|GIT_\w+|PERL5\w+|RUBY(?:OPT|LIB)|NODE_(?:OPTIONS|PATH|TLS_REJECT_UNAUTHORIZED|ENV)|LESS"
    r"|\w*JAVA_OPTIONS|(?:MAVEN|GRADLE)_OPTS|GOFLAGS|\w*RUSTFLAGS|\w*MAKEFLAGS|PYTEST_ADDOPTS|TAR_OPTIONS"
)


def check_variable(name: str) -> None:
    """Raise ValueError unless a program may find a credential's placeholder in a variable."""
    if _BOX.fullmatch(name):
        why = "is the box's own: programs in it find the way out, or whom to trust, by it"
    elif _CREDENTIAL.fullmatch(name):
        return
    elif _STEERING.fullmatch(name) or steers_programs(name):
        why = "steers programs: with a placeholder in it they break"
    else:
        return
    raise ValueError(f"variable {name!r} {why}; expected one that holds a key, such as API_TOKEN")
