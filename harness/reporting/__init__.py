"""Reporters: each tells somebody how runs ended, with the one method `report(runs)`.

One file per reporter. `harness.cli.common` makes those of a command, `harness.reporting.folder` those of a run
folder. A reporter writes to what it is made with: a console, a stream or a file.
"""
