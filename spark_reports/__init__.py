"""Reports over many runs, made with Spark from run folders and nothing else.

They come with a later version: this one has no code here. What they will read is the contract of the run
folder, see `harness.store`.
"""
