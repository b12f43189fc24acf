"""One run of bwlint: arguments in, a report out."""
