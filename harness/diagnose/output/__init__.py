"""A report as text, JSON or a page."""
