"""What commands are told of the way out: the variables that clients look at."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.engine.trust_files import BUNDLE, JAVA_STORE
from orchestrator.schema.way_out import WayOut

LOCAL = "localhost,127.0.0.1,::1"
"""Servers in the box and services beside it are reached directly."""

_TRUSTING = (
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "NODE_EXTRA_CA_CERTS",
    "npm_config_cafile",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "AWS_CA_BUNDLE",
    "BUNDLE_SSL_CA_CERT",
    "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
    "COMPOSER_CAFILE",
    "DENO_CERT",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "HEX_CACERTS_PATH",
    "NIX_SSL_CERT_FILE",
    "PERL_LWP_SSL_CA_FILE",
)
"""Clients that bring their own list of authorities, and what each of them reads. uv, Go, Ruby and all
that stands on OpenSSL read the first."""
_PROXIED = ("http_proxy", "https_proxy", "all_proxy")

_JAVA = f"-Djavax.net.ssl.trustStore={JAVA_STORE} -Djavax.net.ssl.trustStoreType=JKS"
"""Java takes no variable for its proxy: it comes by the addresses that names have in the box."""


def way_environment(way: WayOut, own: Mapping[str, str]) -> dict[str, str]:
    """Return what is added to every command's variables; what the user set, ``own``, stays."""
    proxy = f"http://127.0.0.1:{way.proxy_port}"
    told = dict.fromkeys(_PROXIED, proxy) | {"no_proxy": LOCAL}
    told |= {name.upper(): value for name, value in told.items()}
    told |= dict.fromkeys(_TRUSTING, BUNDLE)
    # Node takes the variables above only when it is told to; so does uv with the first.
    told |= {"NODE_USE_ENV_PROXY": "1", "UV_NATIVE_TLS": "1"}
    told["JAVA_TOOL_OPTIONS"] = _JAVA
    told |= way.environment
    return {name: value for name, value in told.items() if name not in own}
