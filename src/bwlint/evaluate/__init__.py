"""The interpreter: run an expression on every chip at once."""
