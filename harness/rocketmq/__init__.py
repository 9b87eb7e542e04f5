"""RocketMQ itself: versions, client kinds, codes, timers, allocation, wire format."""
