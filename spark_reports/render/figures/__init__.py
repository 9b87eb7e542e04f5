"""The kinds of figures that reports have, one a file: all of the same look, and all safe with strangers' text."""
