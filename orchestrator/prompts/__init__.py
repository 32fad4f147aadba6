"""The system prompt, from layers."""
