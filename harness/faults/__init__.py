"""Faults: one small object each, one life cycle, and proof that each took effect."""
