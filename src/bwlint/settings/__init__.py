"""The user's say: configuration, rules by code and name, comments that silence."""
