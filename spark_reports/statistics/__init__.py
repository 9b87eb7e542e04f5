"""Statistics of the reports, one method a file: pure, from counts and histograms that Spark has made."""
