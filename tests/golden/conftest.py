"""Scenarios to record, some of which fail on purpose, are no tests."""

collect_ignore = ["scenarios"]
