"""Credentials: placeholders in the box, secrets upstream, and no way back for them."""
