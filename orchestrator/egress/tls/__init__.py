"""TLS on both sides of the proxy: what a client says first, what we show it, whom we believe."""
