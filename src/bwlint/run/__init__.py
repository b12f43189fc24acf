"""One run: arguments in, a report out."""
