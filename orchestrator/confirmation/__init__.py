"""Asking a person, and what they answered."""
