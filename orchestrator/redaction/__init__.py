"""Keeping secrets out of every text that leaves a call."""
