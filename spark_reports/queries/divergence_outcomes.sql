-- How the runs of each cell ended, compared with what the scenario expected of them (null: only measured), with the
-- trouble that kept runs from showing anything; `example` is the newest such run.
SELECT
  scenario, client, rocketmq, cluster, timing, outcome, expected, as_expected, trouble,
  COUNT(*) AS runs,
  MAX_BY(source, (COALESCE(started, TIMESTAMP '1970-01-01'), source)) AS example,
  MAX_BY(reason, (COALESCE(started, TIMESTAMP '1970-01-01'), source)) AS reason
FROM runs
GROUP BY scenario, client, rocketmq, cluster, timing, outcome, expected, as_expected, trouble
ORDER BY scenario, client, rocketmq, cluster, timing, outcome, expected, as_expected, trouble
