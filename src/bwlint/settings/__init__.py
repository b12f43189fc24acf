"""The user's settings: configuration, rules by code and name, suppression comments."""
