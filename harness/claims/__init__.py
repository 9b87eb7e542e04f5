"""Claims about RocketMQ: what is claimed, and what runs say of it.

`registry` has the claims, `evidence` what is kept of runs, `verdicts` turns that into a verdict for each claim and
version, `table` and `diff` show them, `plan` chooses what to run for them.
"""
