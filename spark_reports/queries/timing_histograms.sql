-- How long it took: a row per kind of interval, client, version of RocketMQ, timing, limit and value. Values are in
-- milliseconds, rounded to three significant digits; of what was seen by a look, it is what they took at most. Runs are
-- dealt into 20 blocks, so that it can be seen how much they differ: `block_0` counts those of the first (null: none).
-- `limit_ms` is what RocketMQ's timers allow at the latest, and `timers` are these, in milliseconds; null: not known. Of
-- the intervals counted here `beyond` took longer than that for certain, and `perhaps_beyond` at most, before rounding.
WITH ${settings},
-- Runs of one side have the same of all these: intervals are counted by its number.
sided AS (
    SELECT
        *,
        DENSE_RANK() OVER (ORDER BY client, rocketmq, timing, setting) AS side,
        CAST((run_key % 20 + 20) % 20 AS INT) AS block
    FROM settings
),
delivered AS (
    SELECT /*+ BROADCAST(s) */
        s.side,
        s.block,
        s.delivered_unnoticed AS unnoticed,
        s.delivery_limit_ms AS limit_ms,
        GREATEST(m.delivery_ms, 0) AS ms
    FROM messages AS m
    INNER JOIN sided AS s ON m.run_key = s.run_key
    WHERE m.delivery_ms IS NOT NULL
),
timed AS (
    SELECT
        s.*,
        t.what,
        t.cause IN ('pause', 'partition', 'loss') AS unnoticed,
        t.ms,
        COALESCE(t.at_least_ms, 0) AS at_least_ms
    FROM timings AS t
    INNER JOIN sided AS s ON t.run_key = s.run_key
    WHERE t.ms IS NOT NULL
),
limited AS (
    SELECT side, block, what, unnoticed, ms, at_least_ms, ${limit_ms} AS limit_ms
    FROM timed
),
counted AS (
    SELECT
        side,
        block,
        'delivery' AS what,
        unnoticed,
        ${three_digits} AS ms,
        COUNT(*) AS n,
        COUNT(CASE WHEN ms > limit_ms THEN 1 END) AS beyond,
        COUNT(CASE WHEN ms > limit_ms THEN 1 END) AS perhaps_beyond
    FROM delivered
    GROUP BY 1, 2, 4, 5
    UNION ALL
    SELECT
        side,
        block,
        what,
        unnoticed,
        ${three_digits} AS ms,
        COUNT(*) AS n,
        COUNT(CASE WHEN at_least_ms > limit_ms THEN 1 END) AS beyond,
        COUNT(CASE WHEN ms > limit_ms THEN 1 END) AS perhaps_beyond
    FROM limited
    GROUP BY 1, 2, 3, 4, 5
),
-- The blocks side by side: rows are what takes time on their way to Python.
spread AS (
    SELECT
        side,
        what,
        unnoticed,
        ms,
        SUM(beyond) AS beyond,
        SUM(perhaps_beyond) AS perhaps_beyond,
        SUM(CASE WHEN block = 0 THEN n END) AS block_0,
        SUM(CASE WHEN block = 1 THEN n END) AS block_1,
        SUM(CASE WHEN block = 2 THEN n END) AS block_2,
        SUM(CASE WHEN block = 3 THEN n END) AS block_3,
        SUM(CASE WHEN block = 4 THEN n END) AS block_4,
        SUM(CASE WHEN block = 5 THEN n END) AS block_5,
        SUM(CASE WHEN block = 6 THEN n END) AS block_6,
        SUM(CASE WHEN block = 7 THEN n END) AS block_7,
        SUM(CASE WHEN block = 8 THEN n END) AS block_8,
        SUM(CASE WHEN block = 9 THEN n END) AS block_9,
        SUM(CASE WHEN block = 10 THEN n END) AS block_10,
        SUM(CASE WHEN block = 11 THEN n END) AS block_11,
        SUM(CASE WHEN block = 12 THEN n END) AS block_12,
        SUM(CASE WHEN block = 13 THEN n END) AS block_13,
        SUM(CASE WHEN block = 14 THEN n END) AS block_14,
        SUM(CASE WHEN block = 15 THEN n END) AS block_15,
        SUM(CASE WHEN block = 16 THEN n END) AS block_16,
        SUM(CASE WHEN block = 17 THEN n END) AS block_17,
        SUM(CASE WHEN block = 18 THEN n END) AS block_18,
        SUM(CASE WHEN block = 19 THEN n END) AS block_19
    FROM counted
    GROUP BY 1, 2, 3, 4
),
sides AS (
    SELECT DISTINCT
        side, client, rocketmq, timing, noticing, noticing_ms, rebalance, rebalance_ms, heartbeat, heartbeat_ms,
        settings, settings_ms, hold, hold_ms, persist, persist_ms
    FROM sided
)
SELECT
    c.what,
    s.client,
    s.rocketmq,
    s.timing,
    c.unnoticed,
    ${deciding_timers} AS timers,
    ${limit_ms} AS limit_ms,
    CAST(c.ms AS DOUBLE) AS ms,
    c.beyond,
    c.perhaps_beyond,
    c.block_0, c.block_1, c.block_2, c.block_3, c.block_4,
    c.block_5, c.block_6, c.block_7, c.block_8, c.block_9,
    c.block_10, c.block_11, c.block_12, c.block_13, c.block_14,
    c.block_15, c.block_16, c.block_17, c.block_18, c.block_19
FROM spread AS c
INNER JOIN sides AS s ON c.side = s.side
