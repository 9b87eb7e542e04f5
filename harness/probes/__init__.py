"""The broker's answers, asked through the admin worker and written into the history.

Observation must not change what is observed: everything here only reads. While steps run, only request codes
203 (subscription), 307 (ownership), 105, 43 and 202 (offsets) are asked; tracks and dead letters are read when a
moment is observed, and tracks more often if a `track-series` check needs their course. An observation is written
down when it differs from the last one of the same thing, and always where it belongs to a moment.
"""
