"""The scanned tree as one world: modules by name, gates with their sets, what a name leads to, who leads there."""
