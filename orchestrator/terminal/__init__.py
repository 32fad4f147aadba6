"""A person's terminal on something untrusted: nothing it prints reaches the screen as it came."""
