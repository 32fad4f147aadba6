"""Sessions in which a program of its own works, an agent of somebody else's, say."""
