"""bwlint finds code that confuses the two Blackwells, SM100 and SM120."""

__version__ = "0.1.0"
