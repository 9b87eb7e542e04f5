-- One row per cell whose judged runs end both ways, condition and bin: 20 bins of about equal size within the
-- cell, equal values always in the same one, by the middle of their ranks; `hits` ended as expected. How long the
-- phases took after the cluster was there is no condition: a run that ends early is short because of how it ended.
WITH judged AS (
  SELECT run_key, scenario, client, rocketmq, cluster, timing, as_expected
  FROM runs
  WHERE outcome <> 'error' AND (trouble IS NULL OR trouble = 'precondition') AND as_expected IS NOT NULL
),
-- Cells are few, and are known by a number: by it conditions, which are many, are sorted.
mixed AS (
  SELECT *, row_number() OVER (ORDER BY scenario, client, rocketmq, cluster, timing) AS cell
  FROM (
    SELECT scenario, client, rocketmq, cluster, timing
    FROM judged
    GROUP BY scenario, client, rocketmq, cluster, timing
    HAVING count(CASE WHEN as_expected THEN 1 END) BETWEEN 1 AND count(*) - 1
  ) AS each
),
numbered AS (
  SELECT j.run_key, j.as_expected, m.cell
  FROM judged AS j
  JOIN mixed AS m
    ON j.scenario IS NOT DISTINCT FROM m.scenario AND j.client IS NOT DISTINCT FROM m.client
    AND j.rocketmq IS NOT DISTINCT FROM m.rocketmq AND j.cluster IS NOT DISTINCT FROM m.cluster
    AND j.timing IS NOT DISTINCT FROM m.timing
),
one_each AS (
  SELECT j.cell, c.run_key, c.name, j.as_expected, avg(c.value) AS value
  FROM conditions AS c
  JOIN numbered AS j ON c.run_key = j.run_key
  WHERE c.value IS NOT NULL AND NOT isnan(c.value) AND c.name NOT IN ('steps_s', 'observe_s', 'tear_down_s')
  GROUP BY j.cell, c.run_key, c.name, j.as_expected
),
placed AS (
  SELECT cell, name, value, as_expected,
         ((rank() OVER in_order - 1) / count(*) OVER (PARTITION BY cell, name) + cume_dist() OVER in_order) / 2
           AS place
  FROM one_each
  WINDOW in_order AS (PARTITION BY cell, name ORDER BY value)
),
binned AS (
  SELECT cell, name,
         CAST(floor(place * 20) AS INT) AS bin,
         count(*) AS runs,
         count(CASE WHEN as_expected THEN 1 END) AS hits,
         min(value) AS low,
         max(value) AS high
  FROM placed
  GROUP BY cell, name, CAST(floor(place * 20) AS INT)
)
SELECT scenario, client, rocketmq, cluster, timing, name, bin, runs, hits, low, high
FROM binned
JOIN mixed USING (cell)
ORDER BY scenario, client, rocketmq, cluster, timing, name, bin
