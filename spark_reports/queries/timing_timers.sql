-- RocketMQ's timers, in milliseconds: a row per client, version of RocketMQ, timing and what all timers were together,
-- with the runs that had them so. Of runs whose folders don't tell their timers these are null.
SELECT client, rocketmq, timing, timers_ms, COUNT(*) AS runs
FROM runs
GROUP BY client, rocketmq, timing, timers_ms
ORDER BY client, rocketmq, timing, runs DESC
