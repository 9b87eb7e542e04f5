-- Messages that listeners got, though the brokers' word on who owned the queue was another: per cell, `runs` runs had
-- `number` of them, `unowned` among these in queues without an owner (as where brokers hand messages out, in POP).
-- Left out are runs that ended by an error, or whose trouble kept them from showing anything.
WITH by_run AS (
  SELECT
    run_key,
    COUNT(*) FILTER (WHERE owner IS NOT NULL) AS elsewhere,
    COUNT(*) FILTER (WHERE owner IS NULL) AS unowned
  FROM messages
  WHERE message_class IN ('delivered', 'in-retry', 'dead-letter')
    AND (owner IS NULL OR NOT ARRAY_CONTAINS(deliveries, owner))
  GROUP BY run_key
)
SELECT
  scenario, client, rocketmq, cluster, timing, elsewhere, unowned,
  COUNT(*) AS runs,
  MAX_BY(source, COALESCE(started, TIMESTAMP '1970-01-01')) AS example
FROM by_run
JOIN runs USING (run_key)
WHERE trouble IS NULL AND outcome <> 'error'
GROUP BY scenario, client, rocketmq, cluster, timing, elsewhere, unowned
ORDER BY scenario, client, rocketmq, cluster, timing, elsewhere, unowned
