"""The box: one container a session, reached through one tool server."""
