"""The RocketMQ clients of a run, each driving one worker process: consumer, producer, admin."""
