-- The three witnesses: per cell, class by the oracle (workers), TrackType by the broker's tools and TrackType by the
-- dashboard, `runs` runs had `number` such messages; a track is null where that witness was not asked.
-- Left out are runs that ended by an error, or whose trouble kept them from showing anything.
WITH by_run AS (
  SELECT run_key, message_class, broker_track, dashboard_track, COUNT(*) AS number
  FROM messages
  WHERE broker_track IS NOT NULL OR dashboard_track IS NOT NULL
  GROUP BY run_key, message_class, broker_track, dashboard_track
)
SELECT
  scenario, client, rocketmq, cluster, timing, message_class, broker_track, dashboard_track, number,
  COUNT(*) AS runs
FROM by_run
JOIN runs USING (run_key)
WHERE trouble IS NULL AND outcome <> 'error'
GROUP BY scenario, client, rocketmq, cluster, timing, message_class, broker_track, dashboard_track, number
ORDER BY scenario, client, rocketmq, cluster, timing, message_class, broker_track, dashboard_track, number
