"""Apply fixes: in memory, then to disk, as a diff, or as a series of patches.

`plan` says which fixes get on with each other, `passes` repeats until nothing is left, with every changed text judged
again; `changes` and `source` are texts and their edits, `patches` and `write` what comes of them, `comment` and
`interactive` the user's say.
"""
