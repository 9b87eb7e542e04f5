"""rocketchaos: reproduces, on real RocketMQ, what happens when the members of a consumer group disagree.

The one package that is installed. In a checkout it holds links to the folders next to it: `harness` runs
scenarios, `assertions` judge what happened, `spark_reports` tell of many runs, and `scenarios` are what comes
with it.

The data goes one way::

    scenario file -> harness.scenario -> Scenario -> harness.engine.run -> history
        -> assertions (pure) -> outcome -> run folder -> harness.reporting

Start reading at `harness.engine.run`.
"""

__version__ = "0.2.0"
