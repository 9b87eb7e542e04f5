"""What RocketMQ is: versions, client kinds, codes, timers, allocation, its wire format. It knows nothing of scenarios."""
