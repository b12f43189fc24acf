"""What earlier runs have found out, in one file of the user: facts by content, reports by what was seen."""
