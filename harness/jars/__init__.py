"""Java and RocketMQ's jars: where they come from, and where they are kept."""
