"""Run folders become rows of the store: what is listed, looked at, judged fit, and handed to the store.

`folder_list` finds folders, `reading` loads the facts that are in them, `made_anew` makes those that are missing
and says what is wrong, `table_rows` gives them the form of the tables, and `ingest` does it all, some thousand
folders at a time.
"""
