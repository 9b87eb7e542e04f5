-- How long it took: a row per kind of interval, client, version of RocketMQ, timing, limit, block of runs and value.
-- Values are in milliseconds, rounded to three significant digits; `most` counts those that took at most so long,
-- `least` those of which it is known that they took so long at least. Runs are dealt into 20 blocks, so that it can
-- be seen how much they differ. `limit_ms` is what RocketMQ's timers allow at the latest; null: not known. `beyond`
-- tells what took longer than that, before it was rounded.
WITH timers AS (
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
-- Runs of one side have the same of all these: messages are counted by its number.
sided AS (
    SELECT
        *,
        DENSE_RANK() OVER (
            ORDER BY
                client, rocketmq, timing, unnoticed_ms, rebalance_ms, heartbeat_ms, settings_ms, hold_ms, persist_ms
        ) AS side,
        CAST((run_key % 20 + 20) % 20 AS INT) AS block
    FROM limits
),
kinds AS (
    SELECT 'delivery' AS what, FALSE AS unnoticed
    UNION ALL SELECT 'offset-correction', FALSE
    UNION ALL SELECT 'offset-correction', TRUE
    UNION ALL SELECT 'rebalance', FALSE
    UNION ALL SELECT 'rebalance', TRUE
    UNION ALL SELECT 'subscription-flip', FALSE
    UNION ALL SELECT 'subscription-flip', TRUE
),
sides AS (
    SELECT
        s.side,
        k.what,
        k.unnoticed,
        s.client,
        s.rocketmq,
        s.timing,
        CASE k.what
            WHEN 'delivery' THEN s.hold_ms
            WHEN 'offset-correction' THEN s.hold_ms + s.persist_ms
            WHEN 'rebalance' THEN s.rebalance_ms + CASE WHEN k.unnoticed THEN s.unnoticed_ms ELSE 0 END
            WHEN 'subscription-flip' THEN COALESCE(
                s.settings_ms,
                s.rebalance_ms + s.heartbeat_ms + CASE WHEN k.unnoticed THEN s.unnoticed_ms ELSE 0 END
            )
        END AS limit_ms
    FROM (
        SELECT DISTINCT
            side, client, rocketmq, timing, unnoticed_ms, rebalance_ms, heartbeat_ms, settings_ms, hold_ms, persist_ms
        FROM sided
    ) AS s
    CROSS JOIN kinds AS k
),
delivered AS (
    SELECT /*+ BROADCAST(s) */
        s.side,
        s.block,
        s.hold_ms AS limit_ms,
        GREATEST(m.delivery_ms, 0) AS ms
    FROM messages AS m
    INNER JOIN sided AS s ON m.run_key = s.run_key
    WHERE m.delivery_ms IS NOT NULL
),
timed AS (
    SELECT
        s.side,
        s.block,
        t.what,
        t.cause IN ('pause', 'partition', 'loss') AS unnoticed,
        t.ms AS most_ms,
        COALESCE(t.at_least_ms, 0) AS least_ms
    FROM timings AS t
    INNER JOIN sided AS s ON t.run_key = s.run_key
    WHERE t.ms IS NOT NULL
),
took AS (
    SELECT t.side, t.what, t.unnoticed, t.block, e.limit_ms, TRUE AS is_most, t.most_ms AS ms
    FROM timed AS t
    INNER JOIN sides AS e ON t.side = e.side AND t.what = e.what AND t.unnoticed = e.unnoticed
    UNION ALL
    SELECT t.side, t.what, t.unnoticed, t.block, e.limit_ms, FALSE, t.least_ms
    FROM timed AS t
    INNER JOIN sides AS e ON t.side = e.side AND t.what = e.what AND t.unnoticed = e.unnoticed
),
counted AS (
    SELECT
        side,
        'delivery' AS what,
        FALSE AS unnoticed,
        block,
        COALESCE(ms > limit_ms, FALSE) AS beyond,
        ${three_digits} AS ms,
        COUNT(*) AS most,
        COUNT(*) AS least
    FROM delivered
    GROUP BY 1, 4, 5, 6
    UNION ALL
    SELECT
        side,
        what,
        unnoticed,
        block,
        COALESCE(ms > limit_ms, FALSE) AS beyond,
        ${three_digits} AS ms,
        SUM(CASE WHEN is_most THEN 1 ELSE 0 END) AS most,
        SUM(CASE WHEN is_most THEN 0 ELSE 1 END) AS least
    FROM took
    GROUP BY 1, 2, 3, 4, 5, 6
)
SELECT
    c.what,
    e.client,
    e.rocketmq,
    e.timing,
    c.unnoticed,
    CAST(e.limit_ms AS BIGINT) AS limit_ms,
    c.block,
    CAST(c.ms AS DOUBLE) AS ms,
    c.beyond,
    CAST(c.most AS BIGINT) AS most,
    CAST(c.least AS BIGINT) AS least
FROM counted AS c
INNER JOIN sides AS e ON c.side = e.side AND c.what = e.what AND c.unnoticed = e.unnoticed
