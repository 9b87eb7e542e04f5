-- One row per side, claim and cell: in how many runs its checks held, and in how many one of them did not. Those count that
-- speak of the claim: checks of the end that was expected, of the end that was seen, and of neither list. A check that
-- holds and one that doesn't are both in a run: then the claim was not so in it. `yes` and `no` are the newest runs.
WITH said AS (
  SELECT s.side, c.claim, r.run_key, r.scenario, r.client, r.rocketmq, r.cluster, r.timing, r.source,
         concat(coalesce(CAST(r.started AS STRING), ''), ' ', r.run) AS in_time,
         min(CASE WHEN c.holds = 'yes' THEN 1 ELSE 0 END) AS held
  FROM checks AS c
  JOIN runs AS r ON c.run_key = r.run_key
  JOIN sides AS s ON r.run_key = s.run_key
  WHERE c.claim IS NOT NULL AND c.holds IN ('yes', 'no')
    AND r.outcome <> 'error' AND (r.trouble IS NULL OR r.trouble = 'precondition')
    AND (r.expected IS NULL OR c.section IS NULL OR c.section NOT IN ('anomaly', 'healthy')
         OR c.section IN (CASE r.expected WHEN 'reproduced' THEN 'anomaly' WHEN 'not-reproduced' THEN 'healthy' END,
                          CASE r.outcome WHEN 'reproduced' THEN 'anomaly' WHEN 'not-reproduced' THEN 'healthy' END))
  GROUP BY s.side, c.claim, r.run_key, r.scenario, r.client, r.rocketmq, r.cluster, r.timing, r.source, r.started, r.run
)
SELECT side, claim, scenario, client, rocketmq, cluster, timing,
       count(*) AS runs,
       sum(held) AS held,
       max_by(source, CASE WHEN held = 1 THEN in_time END) AS yes,
       max_by(source, CASE WHEN held = 0 THEN in_time END) AS no
FROM said
GROUP BY side, claim, scenario, client, rocketmq, cluster, timing
ORDER BY side, claim, scenario, client, rocketmq, cluster, timing
