-- One row per cause: how many bad runs of each side have it, of all runs that there are of the scenarios in which it was
-- seen. A run is bad that ended not as expected, or in an error. Facts have lines of logs and most events of bad runs only
-- (`harness.facts.finding_facts`): of these causes, `of_bad_runs`, the shares are of bad runs. `text` and `source` are of the
-- newest run that has it. At most 2000, those of most runs first.
WITH ends AS (
  SELECT s.side, r.run_key, r.scenario, r.source, r.started,
         coalesce(r.outcome = 'error' OR NOT r.as_expected OR (r.trouble IS NOT NULL AND r.trouble <> 'precondition'),
                  false) AS bad,
         concat(coalesce(CAST(r.started AS STRING), ''), ' ', r.run) AS in_time
  FROM runs AS r
  JOIN sides AS s ON r.run_key = s.run_key
),
once AS (
  SELECT run_key, signature, min(side) AS from_side, min(text) AS text,
         min(CASE kind WHEN 'trouble' THEN '1 trouble' WHEN 'check' THEN '2 check' WHEN 'outcome' THEN '3 outcome'
                       WHEN 'event' THEN '4 event' ELSE concat('5 ', kind) END) AS kind
  FROM findings
  WHERE signature IS NOT NULL
  GROUP BY run_key, signature
),
by_scenario AS (
  SELECT o.signature, e.scenario, min(o.from_side) AS from_side, min(o.kind) AS kind,
         min(o.kind = '5 log' OR (o.kind = '4 event' AND o.signature NOT LIKE 'worker-died%'
                                  AND o.signature NOT LIKE 'listener-error%')) AS of_bad_runs,
         count(CASE WHEN e.side = 'before' THEN 1 END) AS before_runs,
         count(CASE WHEN e.side = 'after' THEN 1 END) AS after_runs,
         min(e.started) AS first_seen,
         max(e.started) AS last_seen,
         max(e.in_time) AS newest,
         max_by(o.text, e.in_time) AS text,
         max_by(e.source, e.in_time) AS source
  FROM once AS o
  JOIN ends AS e ON o.run_key = e.run_key
  WHERE e.bad
  GROUP BY o.signature, e.scenario
),
all_runs AS (
  SELECT scenario,
         count(CASE WHEN side = 'before' THEN 1 END) AS before_of,
         count(CASE WHEN side = 'after' THEN 1 END) AS after_of,
         count(CASE WHEN side = 'before' AND bad THEN 1 END) AS before_bad,
         count(CASE WHEN side = 'after' AND bad THEN 1 END) AS after_bad
  FROM ends
  GROUP BY scenario
)
SELECT b.signature, min(b.from_side) AS side, substring(min(b.kind), 3) AS kind, min(b.of_bad_runs) AS of_bad_runs,
       sum(b.before_runs) AS before_runs, sum(CASE WHEN b.of_bad_runs THEN a.before_bad ELSE a.before_of END) AS before_of,
       sum(b.after_runs) AS after_runs, sum(CASE WHEN b.of_bad_runs THEN a.after_bad ELSE a.after_of END) AS after_of,
       count(*) AS scenarios, min(b.scenario) AS scenario,
       min(b.first_seen) AS first_seen, max(b.last_seen) AS last_seen,
       max_by(b.text, b.newest) AS text, max_by(b.source, b.newest) AS source
FROM by_scenario AS b
JOIN all_runs AS a ON b.scenario = a.scenario
GROUP BY b.signature
ORDER BY sum(b.before_runs) + sum(b.after_runs) DESC, b.signature
LIMIT 2000
