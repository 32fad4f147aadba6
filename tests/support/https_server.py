"""A server of Python's own over TLS on loopback, in a thread."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def https_server(handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext) -> Iterator[int]:
    """Serve, and give the port."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.socket = context.wrap_socket(http.socket, server_side=True)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield http.server_port
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
