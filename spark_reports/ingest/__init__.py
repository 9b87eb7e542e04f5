"""Run folders become facts: what is listed, read, judged fit, and handed to the store.

`listing` finds folders, `reading` and `events` parse them once, a file for each table makes its rows, `soundness`
and `quarantine` say which folders are fit, and `ingest` does it all, some thousand folders at a time.
"""
