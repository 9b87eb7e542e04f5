-- Histograms of how long it took, one value a run: the longest of its kind, to three digits, in milliseconds. One row per
-- side, kind of interval, cell and value; `source` is the newest of the runs that have it.
WITH each AS (
  SELECT run_key, what, max(ms) AS ms FROM timings WHERE ms IS NOT NULL GROUP BY run_key, what
  UNION ALL
  SELECT run_key, 'delivery' AS what, max(greatest(delivery_ms, 0)) AS ms
  FROM messages WHERE delivery_ms IS NOT NULL GROUP BY run_key
),
placed AS (
  SELECT s.side, e.what, r.scenario, r.client, r.rocketmq, r.cluster, r.timing, r.source, r.run,
         ${three_digits} AS ms
  FROM each AS e
  JOIN runs AS r ON e.run_key = r.run_key
  JOIN sides AS s ON r.run_key = s.run_key
)
SELECT side, what, scenario, client, rocketmq, cluster, timing, CAST(ms AS DOUBLE) AS ms,
       count(*) AS runs,
       max_by(source, run) AS source
FROM placed
GROUP BY side, what, scenario, client, rocketmq, cluster, timing, ms
ORDER BY side, what, scenario, client, rocketmq, cluster, timing, ms
