"""Evaluate a gate with CPython: cut its code out of the source, and run that in a sandboxed child."""
