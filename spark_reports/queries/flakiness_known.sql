-- One row per code of a finding that a night made: how many runs show it, when the first and the last was, and the newest
-- of them. `newest_run` is when the newest run of the whole store began: ages are counted up to it.
WITH found AS (
  SELECT f.signature, f.text, r.run_key, r.source, r.started,
         concat(coalesce(CAST(r.started AS STRING), ''), ' ', r.run) AS in_time
  FROM findings AS f
  JOIN runs AS r ON f.run_key = r.run_key
  WHERE f.kind = 'invariant'
)
SELECT signature AS code,
       max_by(text, in_time) AS text,
       count(DISTINCT run_key) AS runs,
       min(started) AS first_seen,
       max(started) AS last_seen,
       max_by(source, in_time) AS source,
       (SELECT max(started) FROM runs) AS newest_run
FROM found
GROUP BY signature
ORDER BY signature
