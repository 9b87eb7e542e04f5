-- How long it took in each scenario: a row per kind of interval and cell (and whether brokers had to notice what
-- began it by themselves, as a pause) and limit by RocketMQ's timers (null: not known), with the number of intervals and of runs,
-- percentiles in milliseconds rounded to three significant digits (the least value that so large a share doesn't
-- exceed), the greatest, what of that is known at least, and the folders of the runs
-- that had it, and that had it for certain.
WITH ${settings},
celled AS (
    SELECT *, DENSE_RANK() OVER (ORDER BY scenario, client, rocketmq, cluster, timing, setting) AS cell
    FROM settings
),
timed AS (
    SELECT
        run_key,
        what,
        cause IN ('pause', 'partition', 'loss') AS unnoticed,
        ms,
        COALESCE(at_least_ms, 0) AS at_least_ms
    FROM timings
    WHERE ms IS NOT NULL
),
by_run AS (
    SELECT
        run_key,
        'delivery' AS what,
        CAST(NULL AS BOOLEAN) AS unnoticed,
        MAX(GREATEST(delivery_ms, 0)) AS highest_ms,
        MAX(GREATEST(delivery_ms, 0)) AS at_least_ms
    FROM messages
    WHERE delivery_ms IS NOT NULL
    GROUP BY run_key
    UNION ALL
    SELECT run_key, what, unnoticed, MAX(ms) AS highest_ms, MAX(at_least_ms) AS at_least_ms
    FROM timed
    GROUP BY run_key, what, unnoticed
),
of_runs AS (
    SELECT
        c.cell,
        r.what,
        CASE WHEN r.what = 'delivery' THEN c.delivered_unnoticed ELSE r.unnoticed END AS unnoticed,
        COUNT(*) AS runs,
        MAX(r.highest_ms) AS highest_ms,
        MAX(r.at_least_ms) AS at_least_ms,
        -- Of runs with the same time always the same one.
        MAX_BY(r.run_key, (r.highest_ms, r.run_key)) AS longest_run,
        MAX_BY(r.run_key, (r.at_least_ms, r.run_key)) AS certain_run
    FROM by_run AS r
    INNER JOIN celled AS c ON r.run_key = c.run_key
    GROUP BY 1, 2, 3
),
delivered AS (
    SELECT /*+ BROADCAST(c) */
        c.cell,
        c.delivered_unnoticed AS unnoticed,
        GREATEST(m.delivery_ms, 0) AS ms
    FROM messages AS m
    INNER JOIN celled AS c ON m.run_key = c.run_key
    WHERE m.delivery_ms IS NOT NULL
),
took AS (
    SELECT c.cell, t.what, t.unnoticed, t.ms
    FROM timed AS t
    INNER JOIN celled AS c ON t.run_key = c.run_key
),
histogram AS (
    SELECT cell, 'delivery' AS what, unnoticed, ${three_digits} AS ms, COUNT(*) AS n
    FROM delivered
    GROUP BY 1, 3, 4
    UNION ALL
    SELECT cell, what, unnoticed, ${three_digits} AS ms, COUNT(*) AS n
    FROM took
    GROUP BY 1, 2, 3, 4
),
placed AS (
    SELECT
        *,
        SUM(n) OVER (
            PARTITION BY cell, what, unnoticed ORDER BY ms ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS place,
        SUM(n) OVER (PARTITION BY cell, what, unnoticed) AS total
    FROM histogram
),
percentiles AS (
    SELECT
        cell,
        what,
        unnoticed,
        CAST(MAX(total) AS BIGINT) AS intervals,
        CAST(MIN(CASE WHEN place * 100 >= total * 50 THEN ms END) AS DOUBLE) AS p50_ms,
        CAST(MIN(CASE WHEN place * 100 >= total * 90 THEN ms END) AS DOUBLE) AS p90_ms,
        CAST(MIN(CASE WHEN place * 100 >= total * 99 THEN ms END) AS DOUBLE) AS p99_ms
    FROM placed
    GROUP BY cell, what, unnoticed
),
found AS (
    SELECT p.*, o.runs, o.highest_ms, o.at_least_ms, l.source, k.source AS certain_source
    FROM percentiles AS p
    INNER JOIN of_runs AS o ON p.cell = o.cell AND p.what = o.what AND p.unnoticed IS NOT DISTINCT FROM o.unnoticed
    INNER JOIN runs AS l ON o.longest_run = l.run_key
    INNER JOIN runs AS k ON o.certain_run = k.run_key
),
cells AS (
    SELECT DISTINCT
        cell, scenario, client, rocketmq, cluster, timing, noticing, noticing_ms, rebalance, rebalance_ms,
        heartbeat, heartbeat_ms, settings, settings_ms, hold, hold_ms, persist, persist_ms
    FROM celled
)
SELECT
    f.what,
    f.unnoticed,
    c.scenario,
    c.client,
    c.rocketmq,
    c.cluster,
    c.timing,
    ${deciding_timers} AS timers,
    ${limit_ms} AS limit_ms,
    f.intervals,
    f.runs,
    f.p50_ms,
    f.p90_ms,
    f.p99_ms,
    f.highest_ms,
    f.at_least_ms,
    f.source,
    f.certain_source
FROM found AS f
INNER JOIN cells AS c ON f.cell = c.cell
ORDER BY what, unnoticed, scenario, client, rocketmq, cluster, timing, timers
