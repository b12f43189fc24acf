"""Results of earlier runs in one file of the user's cache: facts by file content, reports by what a run read."""
