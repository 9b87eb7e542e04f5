-- One row per cause: findings with the same signature. `bad_runs` have it and ended not as expected, or in an
-- error; `good_runs` have it and did not. At most 200, those that cost most runs first.
WITH ends AS (
  SELECT run_key, run, source, started, scenario, client, rocketmq, cluster, timing,
         coalesce(outcome = 'error' OR NOT as_expected OR (trouble IS NOT NULL AND trouble <> 'precondition'), false) AS bad
  FROM runs
),
once AS (
  SELECT run_key, signature, min(side) AS side, min(kind) AS kind, min(text) AS text, sum(occurrences) AS occurrences
  FROM findings
  WHERE signature IS NOT NULL
  GROUP BY run_key, signature
),
by_cell AS (
  SELECT signature, scenario, client, rocketmq, cluster, timing,
         min(side) AS side, min(kind) AS kind, min(text) AS text,
         count(CASE WHEN bad THEN 1 END) AS bad_runs,
         count(CASE WHEN NOT bad THEN 1 END) AS good_runs,
         sum(occurrences) AS occurrences,
         min(CASE WHEN bad THEN started END) AS first_seen,
         max(CASE WHEN bad THEN started END) AS last_seen,
         max(CASE WHEN bad THEN concat(coalesce(CAST(started AS STRING), ''), ' ', run) END) AS newest,
         max_by(run, CASE WHEN bad THEN concat(coalesce(CAST(started AS STRING), ''), ' ', run) END) AS run,
         max_by(source, CASE WHEN bad THEN concat(coalesce(CAST(started AS STRING), ''), ' ', run) END) AS source
  FROM once JOIN ends USING (run_key)
  GROUP BY signature, scenario, client, rocketmq, cluster, timing
)
SELECT signature, min(side) AS side, min(kind) AS kind,
       sum(bad_runs) AS bad_runs, sum(good_runs) AS good_runs, sum(occurrences) AS occurrences,
       count(CASE WHEN bad_runs > 0 THEN 1 END) AS cells,
       min(first_seen) AS first_seen, max(last_seen) AS last_seen,
       min(text) AS text, max_by(run, newest) AS run, max_by(source, newest) AS source
FROM by_cell
GROUP BY signature
HAVING sum(bad_runs) > 0
ORDER BY bad_runs DESC, good_runs, signature
LIMIT 200
