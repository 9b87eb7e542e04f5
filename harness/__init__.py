"""Runs scenarios on a real RocketMQ; `harness.engine.run` is a run on one page."""
