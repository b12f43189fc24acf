"""Expressions run on every chip at once."""
