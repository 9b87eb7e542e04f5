"""Methods of the reports, a file each: pure functions of counts. Nothing here knows Spark."""
