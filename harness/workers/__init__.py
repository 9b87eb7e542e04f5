"""Workers: processes that drive RocketMQ's own clients, and how the harness talks to them."""
