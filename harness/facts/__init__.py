"""Facts of a run: the basis of comparisons of many runs, made once, when the run is judged. Only reads files.

`kinds` has their types, `folder_facts` makes all of a run folder, and a file for each kind makes those of it.
"""
