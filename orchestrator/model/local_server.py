"""The child process of ``-m local``: llama.cpp's own HTTP server on loopback.

Run as a script, with the standard library and xllamacpp alone. One JSON line on stdin says what to
serve, one on stdout says where; the end of stdin, which is also the parent's death, ends it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any


def main() -> None:
    """Serve until stdin ends."""
    answer = os.fdopen(os.dup(1), "w")
    # The engine prints; its words must not mix with the answer.
    os.dup2(2, 1)
    order = json.loads(sys.stdin.readline())
    server = start(order)
    answer.write(json.dumps({"address": server.listening_address}) + "\n")
    answer.flush()
    while sys.stdin.read(4096):
        pass
    # Not sys.exit: a request that is still being answered must not keep the process.
    os._exit(0)


def start(order: dict[str, Any]) -> Any:
    """Load the model and return the listening server."""
    # By name: the extra is optional and has no types.
    xllamacpp = importlib.import_module("xllamacpp")

    params = xllamacpp.CommonParams()
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [order["key"]]
    params.model.path = order["weights"]
    params.model_alias = {order["name"]}
    params.chat_template = order["template"]
    params.use_jinja = True
    params.offline = True
    params.ui = False
    params.n_ctx = order["context"]
    params.n_parallel = 1
    params.n_predict = order["output"]
    params.cpuparams.n_threads = order["threads"]
    params.cpuparams_batch.n_threads = order["threads"]
    # The likeliest words only: the same question gives the same answer.
    params.sampling.temp = 0.0
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
