-- Per cell the three findings that explain most of its runs that ended not as expected, or in an error. Of each run
-- the finding that says most of it comes first (`first_in_runs` counts those); the others are what went along. One
-- row per cell and finding; `text` and `source` are of the newest of those runs, of the missed ones if there are any.
WITH ends AS (
  SELECT run_key, run, source, started, scenario, client, rocketmq, cluster, timing,
         outcome = 'error' OR (trouble IS NOT NULL AND trouble <> 'precondition') AS broken,
         coalesce(NOT as_expected, false) AS missed,
         concat(CASE WHEN outcome = 'error' OR (trouble IS NOT NULL AND trouble <> 'precondition') THEN '0 ' ELSE '1 ' END,
                coalesce(CAST(started AS STRING), ''), ' ', run) AS in_time
  FROM runs
),
once AS (
  SELECT run_key, signature, min(side) AS side, min(text) AS text,
         min(CASE kind WHEN 'trouble' THEN '1 trouble' WHEN 'check' THEN '2 check' WHEN 'outcome' THEN '3 outcome'
                       WHEN 'event' THEN '4 event' ELSE concat('5 ', kind) END) AS kind
  FROM findings
  WHERE signature IS NOT NULL
  GROUP BY run_key, signature
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY run_key ORDER BY kind, signature) AS in_run FROM once
),
by_cell AS (
  SELECT scenario, client, rocketmq, cluster, timing, signature, min(side) AS side, min(kind) AS kind,
         count(CASE WHEN (missed OR broken) AND in_run = 1 THEN 1 END) AS first_in_runs,
         count(CASE WHEN missed AND NOT broken THEN 1 END) AS missed_runs,
         count(CASE WHEN broken THEN 1 END) AS broken_runs,
         count(CASE WHEN NOT missed AND NOT broken THEN 1 END) AS good_runs,
         max_by(text, CASE WHEN missed OR broken THEN in_time END) AS text,
         max_by(source, CASE WHEN missed OR broken THEN in_time END) AS source
  FROM placed JOIN ends USING (run_key)
  GROUP BY scenario, client, rocketmq, cluster, timing, signature
),
ranked AS (
  SELECT *, row_number() OVER (
    PARTITION BY scenario, client, rocketmq, cluster, timing
    ORDER BY CASE WHEN missed_runs > 0 THEN 0 ELSE 1 END, first_in_runs DESC, missed_runs + broken_runs DESC,
             good_runs, kind, signature) AS place
  FROM by_cell
  WHERE missed_runs + broken_runs > 0
)
SELECT scenario, client, rocketmq, cluster, timing, place, signature, side, substring(kind, 3) AS kind, text,
       first_in_runs, missed_runs, broken_runs, good_runs, source
FROM ranked
WHERE place <= 3
ORDER BY scenario, client, rocketmq, cluster, timing, place
