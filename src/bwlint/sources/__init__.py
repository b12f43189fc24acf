"""Find and read what is scanned: trees, files, archives, wheels. Nothing of it is executed."""
