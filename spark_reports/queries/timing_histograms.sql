-- How long it took: a row per kind of interval, client, version of RocketMQ, timing, limit, block of runs and value.
-- Values are in milliseconds, rounded to three significant digits; `most` counts those that took at most so long,
-- `least` those of which it is known that they took so long at least. Runs are dealt into 20 blocks, so that it can
-- be seen how much they differ. `limit_ms` is what RocketMQ's timers allow at the latest; null: not known.
WITH took AS (
    SELECT
        run_key,
        'delivery' AS what,
        FALSE AS unnoticed,
        TRUE AS is_most,
        GREATEST(delivery_ms, 0) AS ms
    FROM messages
    WHERE delivery_ms IS NOT NULL
    UNION ALL
    SELECT run_key, what, cause IN ('pause', 'partition', 'loss'), TRUE, ms
    FROM timings
    WHERE ms IS NOT NULL
    UNION ALL
    SELECT run_key, what, cause IN ('pause', 'partition', 'loss'), FALSE, COALESCE(at_least_ms, 0)
    FROM timings
    WHERE ms IS NOT NULL
),
timers AS (
    SELECT
        run_key,
        client,
        rocketmq,
        timing,
        timers_ms AS t,
        CASE WHEN client LIKE '%+%' THEN client ELSE SPLIT_PART(client, ' ', 1) END AS kind
    FROM runs
),
limits AS (
    SELECT
        run_key,
        client,
        rocketmq,
        timing,
        t['broker.channel-expiry'] + t['broker.channel-scan'] AS unnoticed_ms,
        t[CONCAT(kind, '.rebalance')] + COALESCE(t[CONCAT(kind, '.rebalance-min')], 0) AS rebalance_ms,
        t[CONCAT(kind, '.heartbeat')] AS heartbeat_ms,
        t[CONCAT(kind, '.settings')] AS settings_ms,
        CASE
            WHEN kind = 'grpc' THEN t['proxy.hold-receive']
            WHEN kind NOT LIKE '%grpc%' THEN t['broker.hold-pull']
        END + t['broker.hold-check'] AS hold_ms,
        CASE WHEN kind = 'grpc' THEN 0 ELSE t[CONCAT(kind, '.persist-offsets')] END AS persist_ms
    FROM timers
),
counted AS (
    SELECT
        t.run_key,
        t.what,
        t.unnoticed,
        t.is_most,
        CASE
            WHEN t.ms < 10 THEN FLOOR(t.ms * 100 + 0.5) / 100
            WHEN t.ms < 100 THEN FLOOR(t.ms * 10 + 0.5) / 10
            WHEN t.ms < 1000 THEN FLOOR(t.ms + 0.5)
            WHEN t.ms < 10000 THEN FLOOR(t.ms / 10 + 0.5) * 10
            WHEN t.ms < 100000 THEN FLOOR(t.ms / 100 + 0.5) * 100
            ELSE FLOOR(t.ms / 1000 + 0.5) * 1000
        END AS ms
    FROM took AS t
)
SELECT
    c.what,
    r.client,
    r.rocketmq,
    r.timing,
    c.unnoticed,
    CAST(
        CASE c.what
            WHEN 'delivery' THEN r.hold_ms
            WHEN 'offset-correction' THEN r.hold_ms + r.persist_ms
            WHEN 'rebalance' THEN r.rebalance_ms + CASE WHEN c.unnoticed THEN r.unnoticed_ms ELSE 0 END
            WHEN 'subscription-flip' THEN COALESCE(
                r.settings_ms,
                r.rebalance_ms + r.heartbeat_ms + CASE WHEN c.unnoticed THEN r.unnoticed_ms ELSE 0 END
            )
        END AS BIGINT
    ) AS limit_ms,
    CAST((r.run_key % 20 + 20) % 20 AS INT) AS block,
    CAST(c.ms AS DOUBLE) AS ms,
    SUM(CASE WHEN c.is_most THEN 1 ELSE 0 END) AS most,
    SUM(CASE WHEN c.is_most AND c.what <> 'delivery' THEN 0 ELSE 1 END) AS least
FROM counted AS c
INNER JOIN limits AS r ON c.run_key = r.run_key
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
