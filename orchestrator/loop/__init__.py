"""Model turn, tool calls, results, until done."""
