"""Reporters: each tells somebody how runs ended, with the one method `report(runs)`.

One file per reporter; a new one is registered in `harness.reporting.registry`. What a reporter is given at its
making (a console, a stream, a file) is where it tells it.
"""
