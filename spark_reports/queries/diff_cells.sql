-- One row per side and cell: how its runs ended. `sides` says which runs are `before` and which `after`; those of
-- neither are left out. `bad` is the newest run that ended not as expected, `newest` the newest of all that were judged.
WITH ends AS (
  SELECT s.side, r.scenario, r.client, r.rocketmq, r.cluster, r.timing, r.as_expected, r.source,
         r.outcome <> 'error' AND (r.trouble IS NULL OR r.trouble = 'precondition') AS product,
         concat(coalesce(CAST(r.started AS STRING), ''), ' ', r.run) AS in_time
  FROM runs AS r
  JOIN sides AS s ON r.run_key = s.run_key
)
SELECT side, scenario, client, rocketmq, cluster, timing,
       count(*) AS runs,
       count(CASE WHEN product AND as_expected IS NOT NULL THEN 1 END) AS judged,
       count(CASE WHEN product AND as_expected THEN 1 END) AS as_expected,
       max_by(source, CASE WHEN product AND as_expected IS NOT NULL THEN in_time END) AS newest,
       max_by(source, CASE WHEN product AND NOT as_expected THEN in_time END) AS bad
FROM ends
GROUP BY side, scenario, client, rocketmq, cluster, timing
ORDER BY side, scenario, client, rocketmq, cluster, timing
