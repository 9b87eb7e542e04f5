"""The output of reports: pages for people, tables for machines, a few lines for a terminal or a chat."""
