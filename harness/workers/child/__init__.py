"""What runs inside a worker's process: RocketMQ's own clients, and the programs that drive them."""
