-- One row per cell and block: the runs that ended by the product's behaviour, in order of time, cut into at most
-- 200 blocks of equal size (single runs where a cell has no more). `hits` ended as expected, or reproduced where
-- the cell is only measured; `flips` ended differently from the run before. Runs whose wall clock jumped by a
-- second or more, or was wrong all along (`started` is null), have no certain place in time and are left out here.
WITH ends AS (
  SELECT scenario, client, rocketmq, cluster, timing, run_key, run, source, started,
         CASE WHEN max(CASE WHEN as_expected IS NOT NULL THEN 1 ELSE 0 END)
                   OVER (PARTITION BY scenario, client, rocketmq, cluster, timing) = 1
              THEN as_expected ELSE outcome = 'reproduced' END AS hit
  FROM runs
  WHERE outcome <> 'error' AND (trouble IS NULL OR trouble = 'precondition')
    AND started IS NOT NULL AND abs(coalesce(clock_jump_ms, 0)) < 1000
),
placed AS (
  SELECT scenario, client, rocketmq, cluster, timing, run, source, started, hit,
         row_number() OVER in_time AS place,
         ntile(200) OVER in_time AS block,
         lag(hit) OVER in_time AS previous
  FROM ends
  WHERE hit IS NOT NULL
  WINDOW in_time AS (PARTITION BY scenario, client, rocketmq, cluster, timing ORDER BY started, run_key)
)
SELECT scenario, client, rocketmq, cluster, timing, block,
       count(*) AS runs,
       count(CASE WHEN hit THEN 1 END) AS hits,
       count(CASE WHEN hit <> previous THEN 1 END) AS flips,
       min(started) AS first_started,
       max(started) AS last_started,
       min_by(run, place) AS first_run,
       min_by(source, place) AS first_source,
       min_by(source, CASE WHEN NOT hit THEN place END) AS first_miss
FROM placed
GROUP BY scenario, client, rocketmq, cluster, timing, block
ORDER BY scenario, client, rocketmq, cluster, timing, block
