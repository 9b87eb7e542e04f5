-- How long it took: a row per kind of interval, client, version of RocketMQ, timing, limit, block of runs and value.
-- Values are in milliseconds, rounded to three significant digits; `most` counts those that took at most so long,
-- `least` those of which it is known that they took so long at least. Runs are dealt into 20 blocks, so that it can
-- be seen how much they differ. `limit_ms` is what RocketMQ's timers allow at the latest, and `timers` are these, in
-- milliseconds; null: not known. `beyond` tells what took longer than that, before it was rounded.
WITH ${limits},
-- Runs of one side have the same of all these: messages are counted by its number.
numbered AS (
    SELECT *, ROW_NUMBER() OVER (ORDER BY client, rocketmq, timing, setting) AS side
    FROM (SELECT DISTINCT client, rocketmq, timing, setting FROM settings) AS each
),
sided AS (
    SELECT s.run_key, s.delivered_unnoticed, n.side, CAST((s.run_key % 20 + 20) % 20 AS INT) AS block
    FROM settings AS s
    INNER JOIN numbered AS n
        ON s.setting = n.setting AND s.client IS NOT DISTINCT FROM n.client
        AND s.rocketmq IS NOT DISTINCT FROM n.rocketmq AND s.timing IS NOT DISTINCT FROM n.timing
),
sides AS (
    SELECT s.side, s.client, s.rocketmq, s.timing, l.what, l.unnoticed, l.timers, l.limit_ms
    FROM numbered AS s
    INNER JOIN limits AS l ON s.setting = l.setting
),
delivered AS (
    SELECT /*+ BROADCAST(s) */
        s.side,
        s.block,
        s.unnoticed,
        s.limit_ms,
        GREATEST(m.delivery_ms, 0) AS ms
    FROM messages AS m
    INNER JOIN (
        SELECT r.run_key, r.side, r.block, e.unnoticed, e.limit_ms
        FROM sided AS r
        INNER JOIN sides AS e
            ON r.side = e.side AND e.what = 'delivery' AND r.delivered_unnoticed IS NOT DISTINCT FROM e.unnoticed
    ) AS s ON m.run_key = s.run_key
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
    INNER JOIN sides AS e ON t.side = e.side AND t.what = e.what AND t.unnoticed IS NOT DISTINCT FROM e.unnoticed
    UNION ALL
    SELECT t.side, t.what, t.unnoticed, t.block, e.limit_ms, FALSE, t.least_ms
    FROM timed AS t
    INNER JOIN sides AS e ON t.side = e.side AND t.what = e.what AND t.unnoticed IS NOT DISTINCT FROM e.unnoticed
),
counted AS (
    SELECT
        side,
        'delivery' AS what,
        unnoticed,
        block,
        COALESCE(ms > limit_ms, FALSE) AS beyond,
        ${three_digits} AS ms,
        COUNT(*) AS most,
        COUNT(*) AS least
    FROM delivered
    GROUP BY 1, 3, 4, 5, 6
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
    e.timers,
    e.limit_ms,
    c.block,
    CAST(c.ms AS DOUBLE) AS ms,
    c.beyond,
    CAST(c.most AS BIGINT) AS most,
    CAST(c.least AS BIGINT) AS least
FROM counted AS c
INNER JOIN sides AS e ON c.side = e.side AND c.what = e.what AND c.unnoticed IS NOT DISTINCT FROM e.unnoticed
