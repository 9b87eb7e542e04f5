"""What several reporters say in the same way: words, figures and pictures, each a pure function of a report."""
