"""The files an agent works on, and their way back to the host."""
