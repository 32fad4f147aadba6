"""The models of a session: main, small, fallbacks, and what each of their calls costs."""
