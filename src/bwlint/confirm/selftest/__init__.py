"""`bwlint confirm --selftest`: cases of our own, put to bwlint and to a GPU, whose verdicts have to be the same.

`bundle.build` makes the cases for a chip, without a GPU; `run.run` runs them on one; `run.document` is the receipt.
"""
