-- One row per experiment, kind of version and version: its runs that something was expected of, how many ended as
-- expected, when it came, and its first run that did not. An experiment is all that is the same but this version.
WITH judged AS (
  SELECT scenario, CASE WHEN client LIKE '%+%' THEN client ELSE split_part(client, ' ', 1) END AS plain, client, rocketmq, cluster, timing, client_version,
         harness_version, run_key, run, source, started, as_expected
  FROM runs
  WHERE outcome <> 'error' AND (trouble IS NULL OR trouble = 'precondition') AND as_expected IS NOT NULL
    AND started IS NOT NULL AND abs(coalesce(clock_jump_ms, 0)) < 1000
),
versions AS (
  SELECT 'rocketmq' AS kind, rocketmq AS version, scenario, client, CAST(NULL AS STRING) AS rocketmq, cluster,
         timing, run_key, run, source, started, as_expected
  FROM judged WHERE rocketmq <> 'unknown'
  UNION ALL
  SELECT 'client', client_version, scenario, plain, rocketmq, cluster, timing, run_key, run, source, started,
         as_expected
  FROM judged WHERE client_version IS NOT NULL
  UNION ALL
  SELECT 'harness', harness_version, scenario, client, rocketmq, cluster, timing, run_key, run, source, started,
         as_expected
  FROM judged WHERE harness_version IS NOT NULL
),
counted AS (
  SELECT kind, scenario, client, rocketmq, cluster, timing, version,
         count(*) AS runs,
         count(CASE WHEN as_expected THEN 1 END) AS hits,
         min(started) AS first_started,
         max(started) AS last_started,
         min(CASE WHEN NOT as_expected THEN started END) AS miss_started,
         min_by(run, CASE WHEN NOT as_expected THEN concat(CAST(started AS STRING), ' ', run) END) AS miss_run,
         min_by(source, CASE WHEN NOT as_expected THEN concat(CAST(started AS STRING), ' ', run) END)
           AS miss_source
  FROM versions
  GROUP BY kind, scenario, client, rocketmq, cluster, timing, version
),
sized AS (
  SELECT *, count(*) OVER (PARTITION BY kind, scenario, client, rocketmq, cluster, timing) AS versions
  FROM counted
)
SELECT kind, scenario, client, rocketmq, cluster, timing, version, runs, hits, first_started, last_started,
       miss_started, miss_run, miss_source
FROM sized
WHERE versions > 1
ORDER BY kind, scenario, client, rocketmq, cluster, timing, first_started, version
