"""The fast exact solver: arrays in, arrays out; it knows no files and no graphs."""
