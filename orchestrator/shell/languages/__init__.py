"""Readers of code in other languages that stands inside a command: text in, effects out."""
