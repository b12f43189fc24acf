"""`bwlint fleet`: check many sources, each in its own process, and keep results between runs."""
