-- Per cell the three findings that go best with its runs that ended not as expected, or in an error: those that
-- most of them have; what more good runs have than bad ones comes last. One row per cell and finding.
WITH ends AS (
  SELECT run_key, run, source, started, scenario, client, rocketmq, cluster, timing,
         outcome = 'error' OR (trouble IS NOT NULL AND trouble <> 'precondition') AS broken,
         coalesce(NOT as_expected, false) AS missed
  FROM runs
),
once AS (
  SELECT run_key, signature, min(side) AS side, min(kind) AS kind, min(text) AS text
  FROM findings
  WHERE signature IS NOT NULL
  GROUP BY run_key, signature
),
by_cell AS (
  SELECT scenario, client, rocketmq, cluster, timing, signature, min(side) AS side, min(kind) AS kind,
         min(text) AS text,
         count(CASE WHEN missed AND NOT broken THEN 1 END) AS missed_runs,
         count(CASE WHEN broken THEN 1 END) AS broken_runs,
         count(CASE WHEN NOT missed AND NOT broken THEN 1 END) AS good_runs,
         max_by(source, CASE WHEN missed OR broken
                             THEN concat(coalesce(CAST(started AS STRING), ''), ' ', run) END) AS source
  FROM once JOIN ends USING (run_key)
  GROUP BY scenario, client, rocketmq, cluster, timing, signature
),
ranked AS (
  SELECT *, row_number() OVER (
    PARTITION BY scenario, client, rocketmq, cluster, timing
    ORDER BY CASE WHEN good_runs > missed_runs + broken_runs THEN 1 ELSE 0 END,
             missed_runs DESC, broken_runs DESC, good_runs,
             CASE kind WHEN 'trouble' THEN 1 WHEN 'check' THEN 2 WHEN 'outcome' THEN 3 WHEN 'event' THEN 4
                       ELSE 5 END,
             signature) AS place
  FROM by_cell
  WHERE missed_runs + broken_runs > 0
)
SELECT scenario, client, rocketmq, cluster, timing, place, signature, side, kind, text, missed_runs, broken_runs,
       good_runs, source
FROM ranked
WHERE place <= 3
ORDER BY scenario, client, rocketmq, cluster, timing, place
