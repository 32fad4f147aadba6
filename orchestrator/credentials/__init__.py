"""Keys, held in a type that never prints."""
