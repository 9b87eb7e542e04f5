"""rocketchaos: reproduces subscription mismatches on real RocketMQ.

The way of the data, one direction only::

    scenario file -> harness.spec -> Scenario -> harness.runner -> history
        -> assertions (pure) -> outcome -> run folder -> reporters

Start reading at `harness.runner`.
"""

__version__ = "0.1.0"
