"""Skills in a session: found, put into the box, chosen, switched on and off."""
