"""Models for programs in a session's box: its providers, records, variables, put together."""
