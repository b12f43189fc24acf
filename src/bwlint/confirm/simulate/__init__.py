"""`bwlint confirm --simulate`: the user's own program, on a machine where every library speaks of another chip."""
