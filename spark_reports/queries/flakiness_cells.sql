-- One row per cell: how its runs ended. `product` are the runs that ended by the product's behaviour, `judged`
-- those of them that something was expected of. Runs that environment or harness broke are counted apart. `owner`
-- is the one of the newest run that names one.
WITH ends AS (
  SELECT scenario, client, rocketmq, cluster, timing, outcome, trouble, as_expected, started, host, clock_jump_ms,
         scenario_owner, concat(coalesce(CAST(started AS STRING), ''), ' ', run) AS in_time,
         outcome <> 'error' AND (trouble IS NULL OR trouble = 'precondition') AS product
  FROM runs
)
SELECT scenario, client, rocketmq, cluster, timing,
       count(*) AS runs,
       count(CASE WHEN product THEN 1 END) AS product,
       count(CASE WHEN product AND outcome = 'reproduced' THEN 1 END) AS reproduced,
       count(CASE WHEN product AND outcome = 'not-reproduced' THEN 1 END) AS not_reproduced,
       count(CASE WHEN product AND outcome = 'inconclusive' THEN 1 END) AS inconclusive,
       count(CASE WHEN NOT product AND trouble = 'environment' THEN 1 END) AS environment_errors,
       count(CASE WHEN NOT product AND (trouble = 'harness' OR trouble IS NULL) THEN 1 END) AS harness_errors,
       count(CASE WHEN NOT product AND trouble NOT IN ('environment', 'harness') THEN 1 END) AS broken_off,
       count(CASE WHEN product AND as_expected IS NOT NULL THEN 1 END) AS judged,
       count(CASE WHEN product AND as_expected THEN 1 END) AS as_expected,
       count(CASE WHEN as_expected IS NOT NULL THEN 1 END) AS expecting,
       count(CASE WHEN started IS NULL OR abs(coalesce(clock_jump_ms, 0)) >= 1000 THEN 1 END) AS unplaced,
       count(DISTINCT host) AS hosts,
       max_by(scenario_owner, CASE WHEN scenario_owner IS NOT NULL THEN in_time END) AS owner,
       min(started) AS first_started,
       max(started) AS last_started
FROM ends
GROUP BY scenario, client, rocketmq, cluster, timing
ORDER BY scenario, client, rocketmq, cluster, timing
