-- Messages that listeners got out of queues that no member owned, as where brokers hand messages out (POP): per cell,
-- `runs` runs had `number` of them; `example` is the newest such run.
-- Left out are runs that ended by an error, or whose trouble kept them from showing anything.
WITH by_run AS (
  SELECT run_key, COUNT(*) AS number
  FROM messages
  WHERE owner IS NULL AND message_class IN ('delivered', 'in-retry', 'dead-letter')
  GROUP BY run_key
)
SELECT
  scenario, client, rocketmq, cluster, timing, number,
  COUNT(*) AS runs,
  MAX_BY(source, (COALESCE(started, TIMESTAMP '1970-01-01'), source)) AS example
FROM by_run
JOIN runs USING (run_key)
WHERE trouble IS NULL AND outcome <> 'error'
GROUP BY scenario, client, rocketmq, cluster, timing, number
ORDER BY scenario, client, rocketmq, cluster, timing, number
