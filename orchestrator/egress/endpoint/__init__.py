"""A model for programs in the box, without a key: the host adds it, counts, bounds and records."""

from __future__ import annotations

MODEL_PORT = 8085
"""Of the endpoint on 127.0.0.1 in the box."""

__all__ = ["MODEL_PORT"]
