"""Nightly chaos: scenarios generated from a seed, run in parallel, and checked by invariants.

    seed, profile -> generator -> a scenario like any other -> harness.engine.runner -> history, fates
        -> invariants -> findings -> summary, exit code; a finding's run -> shrink -> a small scenario

Everything but the loop in `harness.nightly.night` and the runs of `shrink` is pure.
"""
