"""Reports over many runs, made with Spark from run folders and nothing else.

All that they read of a run is its folder, see `harness.core.run_folder`. README.md says how to use them.
"""
