-- One row per cause: findings with the same signature. `bad_runs` have it and ended not as expected, or were lost to
-- an error; `lost_runs` are the latter; `good_runs` have it and ended well. `first_in_runs` are the bad runs of whose
-- findings it says most: every one of them counts once there, so that rows with 0 are what went along. At most 200,
-- those that cost most runs first. `text`, `run` and `source` are of the newest bad run.
WITH ends AS (
  SELECT run_key, run, source, started, scenario, client, rocketmq, cluster, timing,
         outcome = 'error' OR (trouble IS NOT NULL AND trouble <> 'precondition') AS lost,
         coalesce(outcome = 'error' OR NOT as_expected OR (trouble IS NOT NULL AND trouble <> 'precondition'),
                  false) AS bad,
         concat(coalesce(CAST(started AS STRING), ''), ' ', run) AS in_time
  FROM runs
),
once AS (
  SELECT run_key, signature, min(side) AS side, min(text) AS text, sum(occurrences) AS occurrences,
         min(CASE kind WHEN 'trouble' THEN '1 trouble' WHEN 'check' THEN '2 check' WHEN 'outcome' THEN '3 outcome'
                       WHEN 'event' THEN '4 event' ELSE concat('5 ', kind) END) AS kind
  FROM findings
  WHERE signature IS NOT NULL
  GROUP BY run_key, signature
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY run_key ORDER BY kind, signature) AS place FROM once
),
by_cell AS (
  SELECT signature, scenario, client, rocketmq, cluster, timing,
         min(side) AS side, min(kind) AS kind,
         count(CASE WHEN bad AND place = 1 THEN 1 END) AS first_in_runs,
         count(CASE WHEN bad THEN 1 END) AS bad_runs,
         count(CASE WHEN lost THEN 1 END) AS lost_runs,
         count(CASE WHEN NOT bad THEN 1 END) AS good_runs,
         sum(occurrences) AS occurrences,
         min(CASE WHEN bad THEN started END) AS first_seen,
         max(CASE WHEN bad THEN started END) AS last_seen,
         max(CASE WHEN bad THEN in_time END) AS newest,
         max_by(text, CASE WHEN bad THEN in_time END) AS text,
         max_by(run, CASE WHEN bad THEN in_time END) AS run,
         max_by(source, CASE WHEN bad THEN in_time END) AS source
  FROM placed JOIN ends USING (run_key)
  GROUP BY signature, scenario, client, rocketmq, cluster, timing
),
by_cause AS (
  SELECT signature, min(side) AS side, substring(min(kind), 3) AS kind, sum(first_in_runs) AS first_in_runs,
         sum(bad_runs) AS bad_runs, sum(lost_runs) AS lost_runs, sum(good_runs) AS good_runs,
         sum(occurrences) AS occurrences,
         count(CASE WHEN bad_runs > 0 THEN 1 END) AS cells,
         min(first_seen) AS first_seen, max(last_seen) AS last_seen,
         max_by(text, newest) AS text, max_by(run, newest) AS run, max_by(source, newest) AS source
  FROM by_cell
  GROUP BY signature
)
SELECT signature, side, kind, first_in_runs, bad_runs, lost_runs, good_runs, occurrences, cells, first_seen, last_seen,
       text, run, source
FROM by_cause
WHERE bad_runs > 0
ORDER BY first_in_runs DESC, bad_runs DESC, good_runs, signature
LIMIT 200
