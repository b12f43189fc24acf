"""The ledger: what a tree asks the chip, and a verdict for each chip asked about.

`gates`, `builds`, `amounts` and `spelled` make the questions of a file. `rows` joins those of all files and the
findings of `check` into rows, `verdicts` says of what kind each is, and `ranking` puts the most suspicious first.
"""
