-- The subscription of a group and topic when the brokers were last seen: per cell, the `runs` runs that ended with
-- `held` (null: nothing was held, or the run's brokers differed), how many of them had brokers that differed, and
-- how often a held expression was replaced by another one in a run, on average.
-- RocketMQ's own retry topics are left out; so are runs that ended by an error, or had trouble.
WITH by_broker AS (
  SELECT
    run_key, consumer_group, topic, broker,
    MAX_BY(COALESCE(expression, ''), n) AS held,
    COUNT(*) FILTER (WHERE expression <> previous_expression) AS flips
  FROM subscriptions
  WHERE SUBSTRING(topic, 1, 7) <> '%RETRY%'
  GROUP BY run_key, consumer_group, topic, broker
),
by_run AS (
  SELECT
    run_key, consumer_group, topic,
    CASE WHEN MIN(held) = MAX(held) THEN NULLIF(MIN(held), '') END AS held,
    CASE WHEN MIN(held) <> MAX(held) THEN 1 ELSE 0 END AS differing,
    MAX(flips) AS flips
  FROM by_broker
  GROUP BY run_key, consumer_group, topic
)
SELECT
  scenario, client, rocketmq, cluster, timing, consumer_group, topic, held,
  COUNT(*) AS runs,
  CAST(SUM(differing) AS BIGINT) AS runs_with_differing_brokers,
  CAST(AVG(flips) AS DOUBLE) AS flips_a_run
FROM by_run
JOIN runs USING (run_key)
WHERE trouble IS NULL AND outcome <> 'error'
GROUP BY scenario, client, rocketmq, cluster, timing, consumer_group, topic, held
ORDER BY scenario, client, rocketmq, cluster, timing, consumer_group, topic, held
