"""The command line: a front door without rules of its own."""
