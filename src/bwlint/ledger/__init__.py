"""The rows of `bwlint audit`: every place that checks the chip, with a verdict for each checked chip.

`questions`, `gates` and `spelled` make the questions of a file. `rows` joins those of all files and the findings of
`check` into rows and puts the most suspicious first, `verdicts` says of what kind each is.
"""
