-- What runs cost that ended not as expected, or in an error: one row per scenario, client, version, host,
-- owner and cause (the finding that says most of a run; null: it has none), with the runs and their seconds, when the first and the last was,
-- and the newest of them. Of runs that cost nothing there is one row per scenario, client, version, host and owner (`lost` is
-- false), so that the page can show shares.
WITH ends AS (
  SELECT run_key, run, source, started, scenario, client, rocketmq, coalesce(host, 'unknown') AS host, scenario_owner AS owner,
         coalesce(seconds, 0) AS seconds,
         coalesce(outcome = 'error' OR NOT as_expected OR (trouble IS NOT NULL AND trouble <> 'precondition'),
                  false) AS lost,
         concat(coalesce(CAST(started AS STRING), ''), ' ', run) AS in_time
  FROM runs
),
once AS (
  SELECT run_key, signature, min(side) AS side, min(text) AS text,
         min(CASE kind WHEN 'trouble' THEN '1 trouble' WHEN 'check' THEN '2 check' WHEN 'outcome' THEN '3 outcome'
                       WHEN 'event' THEN '4 event' ELSE concat('5 ', kind) END) AS kind
  FROM findings
  WHERE signature IS NOT NULL
  GROUP BY run_key, signature
),
placed AS (
  SELECT run_key, signature, side, text, row_number() OVER (PARTITION BY run_key ORDER BY kind, signature) AS place
  FROM once
),
caused AS (
  SELECT e.scenario, e.client, e.rocketmq, e.host, e.owner, e.lost, e.seconds, e.started, e.source, e.in_time,
         CASE WHEN e.lost THEN p.signature END AS signature,
         CASE WHEN e.lost THEN p.side END AS side,
         CASE WHEN e.lost THEN p.text END AS text
  FROM ends AS e
  LEFT JOIN placed AS p ON e.run_key = p.run_key AND p.place = 1
)
SELECT scenario, client, rocketmq, host, owner, lost, signature,
       min(side) AS side,
       max_by(text, in_time) AS text,
       count(*) AS runs,
       sum(seconds) AS seconds,
       min(started) AS first_seen,
       max(started) AS last_seen,
       max_by(source, in_time) AS source
FROM caused
GROUP BY scenario, client, rocketmq, host, owner, lost, signature
ORDER BY scenario, client, rocketmq, host, owner, lost, signature
