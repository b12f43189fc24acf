"""`bwlint confirm`: findings put to the assembler and to a GPU. What was asked for, what could run and what did run are
kept apart; a rung that did not run proves nothing.

`ladder` makes the receipts. Children import from here, too: this file imports nothing.
"""
