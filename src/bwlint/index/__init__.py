"""What earlier runs have found out, in a file in the user's cache folder: facts by content, reports by what was seen."""
