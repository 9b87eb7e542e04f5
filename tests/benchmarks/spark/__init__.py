"""`make bench-spark`: the reports at scale, on data that is fitted to real runs and whose truth is known."""
