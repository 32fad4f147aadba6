"""Real agents of other houses, wrapped: `python -m tests.clients` plays all of them."""
