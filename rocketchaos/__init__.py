"""rocketchaos: reproduces, on real RocketMQ, what happens when the members of a consumer group disagree.

The one package that is installed. In a checkout its rooms are links to the folders beside it: `harness`, which runs
scenarios, `assertions`, which judge what happened, `spark_reports` over many runs, and the `scenarios` themselves.

The data goes one way::

    scenario file -> harness.scenario -> Scenario -> harness.engine.run -> history
        -> assertions (pure) -> outcome -> run folder -> harness.reporting

Start reading at `harness.engine.run`.
"""

__version__ = "0.1.0"
