-- One row per cell whose judged runs end both ways, condition and bin: 20 bins of about equal size within the
-- cell, equal values always in the same one; `hits` ended as expected. How long the phases took after the cluster was
-- there is no condition: a run that ends early is short because of how it ended.
WITH judged AS (
  SELECT run_key, scenario, client, rocketmq, cluster, timing, as_expected,
         min(CASE WHEN as_expected THEN 1 ELSE 0 END) OVER cell AS worst,
         max(CASE WHEN as_expected THEN 1 ELSE 0 END) OVER cell AS best
  FROM runs
  WHERE outcome <> 'error' AND (trouble IS NULL OR trouble = 'precondition') AND as_expected IS NOT NULL
  WINDOW cell AS (PARTITION BY scenario, client, rocketmq, cluster, timing)
),
measured AS (
  SELECT scenario, client, rocketmq, cluster, timing, name, value, as_expected,
         percent_rank() OVER (PARTITION BY scenario, client, rocketmq, cluster, timing, name
                              ORDER BY value) AS place
  FROM (
    SELECT run_key, name, avg(value) AS value FROM conditions
    WHERE value IS NOT NULL AND NOT isnan(value) AND name NOT IN ('steps_s', 'observe_s', 'tear_down_s')
    GROUP BY run_key, name
  ) AS one_each
  JOIN judged USING (run_key)
  WHERE worst < best
)
SELECT scenario, client, rocketmq, cluster, timing, name,
       CAST(least(19, floor(place * 20)) AS INT) AS bin,
       count(*) AS runs,
       count(CASE WHEN as_expected THEN 1 END) AS hits,
       min(value) AS low,
       max(value) AS high
FROM measured
GROUP BY scenario, client, rocketmq, cluster, timing, name, CAST(least(19, floor(place * 20)) AS INT)
ORDER BY scenario, client, rocketmq, cluster, timing, name, bin
