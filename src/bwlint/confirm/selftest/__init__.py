"""`bwlint confirm --selftest`: cases of our own, put to bwlint and to a GPU, whose verdicts have to be the same."""
