"""The rows of `bwlint audit`: every place that checks the chip, with a verdict for each checked chip.

`gates`, `builds`, `amounts` and `spelled` make the questions of a file. `rows` joins those of all files and the
findings of `check` into rows, `verdicts` says of what kind each is, and `ranking` puts the most suspicious first.
"""
