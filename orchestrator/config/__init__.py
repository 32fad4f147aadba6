"""Settings: defaults, file, environment, flags; later wins."""
