"""The gate for wrapped agents that ask before they use a tool: judged as calls of our own are."""
