"""The words everyone shares: frozen data, no I/O."""
