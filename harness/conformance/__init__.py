"""Whether a worker speaks the protocol of `harness.workers.protocol` as its traits say, on a real RocketMQ."""
