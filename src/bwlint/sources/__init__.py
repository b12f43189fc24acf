"""Finding and reading what is scanned: trees, files and wheels. Nothing of it is imported or executed."""
