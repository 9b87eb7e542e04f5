"""Statistics of the reports, on aggregated rows: pure Python with SciPy, no Spark, one method a file."""
