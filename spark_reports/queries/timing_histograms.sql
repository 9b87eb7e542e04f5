-- How long it took: a row per kind of interval, client, version of RocketMQ, timing, limit, block of runs and value.
-- Values are in milliseconds, rounded to three significant digits; `most` counts those that took at most so long,
-- `least` those of which it is known that they took so long at least. Runs are dealt into 20 blocks, so that it can
-- be seen how much they differ. `limit_ms` is what RocketMQ's timers allow at the latest, and `timers` are these, in
-- milliseconds; null: not known. `beyond` tells what took longer than that, before it was rounded.
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
        t.ms AS most_ms,
        COALESCE(t.at_least_ms, 0) AS least_ms
    FROM timings AS t
    INNER JOIN sided AS s ON t.run_key = s.run_key
    WHERE t.ms IS NOT NULL
),
limited AS (
    SELECT side, block, what, unnoticed, most_ms, least_ms, ${limit_ms} AS limit_ms
    FROM timed
),
took AS (
    SELECT side, block, what, unnoticed, limit_ms, most_ms AS ms, 1 AS most, 0 AS least
    FROM limited
    UNION ALL
    SELECT side, block, what, unnoticed, limit_ms, least_ms, 0, 1
    FROM limited
),
counted AS (
    SELECT
        side,
        block,
        'delivery' AS what,
        unnoticed,
        COALESCE(ms > limit_ms, FALSE) AS beyond,
        ${three_digits} AS ms,
        COUNT(*) AS most,
        COUNT(*) AS least
    FROM delivered
    GROUP BY 1, 2, 4, 5, 6
    UNION ALL
    SELECT
        side,
        block,
        what,
        unnoticed,
        COALESCE(ms > limit_ms, FALSE) AS beyond,
        ${three_digits} AS ms,
        SUM(most) AS most,
        SUM(least) AS least
    FROM took
    GROUP BY 1, 2, 3, 4, 5, 6
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
    c.block,
    CAST(c.ms AS DOUBLE) AS ms,
    c.beyond,
    CAST(c.most AS BIGINT) AS most,
    CAST(c.least AS BIGINT) AS least
FROM counted AS c
INNER JOIN sides AS s ON c.side = s.side
