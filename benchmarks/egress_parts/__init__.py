"""Processes that the benchmark of the way out runs beside itself."""
