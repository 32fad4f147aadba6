"""Session files: an append-only tree of what happened."""
