"""How CPython is asked about a gate: what is cut out of the source, and the child that it runs in."""
