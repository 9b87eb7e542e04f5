-- How long it took in each scenario: a row per kind of interval and cell (and whether brokers had to notice what
-- began it by themselves, as a pause), with the number of intervals and of runs,
-- percentiles in milliseconds rounded to three significant digits (the least value that so large a share doesn't
-- exceed), the greatest, what of that is known at least, and the folders of the runs
-- that had it, and that had it for certain.
WITH took AS (
    SELECT
        run_key,
        'delivery' AS what,
        FALSE AS unnoticed,
        GREATEST(delivery_ms, 0) AS ms,
        GREATEST(delivery_ms, 0) AS at_least_ms
    FROM messages
    WHERE delivery_ms IS NOT NULL
    UNION ALL
    SELECT run_key, what, cause IN ('pause', 'partition', 'loss'), ms, COALESCE(at_least_ms, 0)
    FROM timings
    WHERE ms IS NOT NULL
),
by_run AS (
    SELECT
        t.what,
        t.unnoticed,
        r.scenario,
        r.client,
        r.rocketmq,
        r.cluster,
        r.timing,
        r.source,
        t.run_key,
        MAX(t.ms) AS highest_ms,
        MAX(t.at_least_ms) AS at_least_ms
    FROM took AS t
    INNER JOIN runs AS r ON t.run_key = r.run_key
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
),
of_runs AS (
    SELECT
        what,
        unnoticed,
        scenario,
        client,
        rocketmq,
        cluster,
        timing,
        COUNT(*) AS runs,
        MAX(highest_ms) AS highest_ms,
        MAX(at_least_ms) AS at_least_ms,
        MAX_BY(source, highest_ms) AS source,
        MAX_BY(source, at_least_ms) AS certain_source
    FROM by_run
    GROUP BY 1, 2, 3, 4, 5, 6, 7
),
histogram AS (
    SELECT
        t.what,
        t.unnoticed,
        r.scenario,
        r.client,
        r.rocketmq,
        r.cluster,
        r.timing,
        CASE
            WHEN t.ms < 10 THEN FLOOR(t.ms * 100 + 0.5) / 100
            WHEN t.ms < 100 THEN FLOOR(t.ms * 10 + 0.5) / 10
            WHEN t.ms < 1000 THEN FLOOR(t.ms + 0.5)
            WHEN t.ms < 10000 THEN FLOOR(t.ms / 10 + 0.5) * 10
            WHEN t.ms < 100000 THEN FLOOR(t.ms / 100 + 0.5) * 100
            ELSE FLOOR(t.ms / 1000 + 0.5) * 1000
        END AS ms,
        COUNT(*) AS n
    FROM took AS t
    INNER JOIN runs AS r ON t.run_key = r.run_key
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
),
placed AS (
    SELECT
        *,
        SUM(n) OVER (
            PARTITION BY what, unnoticed, scenario, client, rocketmq, cluster, timing
            ORDER BY ms
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS place,
        SUM(n) OVER (PARTITION BY what, unnoticed, scenario, client, rocketmq, cluster, timing) AS total
    FROM histogram
),
percentiles AS (
    SELECT
        what,
        unnoticed,
        scenario,
        client,
        rocketmq,
        cluster,
        timing,
        CAST(MAX(total) AS BIGINT) AS intervals,
        CAST(MIN(CASE WHEN place * 100 >= total * 50 THEN ms END) AS DOUBLE) AS p50_ms,
        CAST(MIN(CASE WHEN place * 100 >= total * 90 THEN ms END) AS DOUBLE) AS p90_ms,
        CAST(MIN(CASE WHEN place * 100 >= total * 99 THEN ms END) AS DOUBLE) AS p99_ms
    FROM placed
    GROUP BY 1, 2, 3, 4, 5, 6, 7
)
SELECT
    p.what,
    p.unnoticed,
    p.scenario,
    p.client,
    p.rocketmq,
    p.cluster,
    p.timing,
    p.intervals,
    o.runs,
    p.p50_ms,
    p.p90_ms,
    p.p99_ms,
    o.highest_ms,
    o.at_least_ms,
    o.source,
    o.certain_source
FROM percentiles AS p
INNER JOIN of_runs AS o
    ON p.what = o.what
    AND p.unnoticed = o.unnoticed
    AND p.scenario = o.scenario
    AND p.client = o.client
    AND p.rocketmq = o.rocketmq
    AND p.cluster = o.cluster
    AND p.timing = o.timing
ORDER BY p.what, p.unnoticed, p.scenario, p.client, p.rocketmq, p.cluster, p.timing
