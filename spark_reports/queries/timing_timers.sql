-- RocketMQ's timers: a row per client, version of RocketMQ, timing, timer and value, with the runs that had it.
-- Runs whose folders don't tell their timers count under a timer that is null.
SELECT
    r.client,
    r.rocketmq,
    r.timing,
    e.timer,
    e.ms,
    COUNT(*) AS runs
FROM runs AS r
LATERAL VIEW OUTER EXPLODE(r.timers_ms) e AS timer, ms
GROUP BY 1, 2, 3, 4, 5
ORDER BY 1, 2, 3, 4, 5
