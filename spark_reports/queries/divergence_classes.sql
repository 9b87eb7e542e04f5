-- What became of the messages of each run, as histograms: per cell and kind of message, `runs` runs had `number` of
-- them among their `messages` messages; `example` is the newest such run. The kinds are the classes of the oracle,
-- then what the broker's tools and the dashboard say against the workers. Of the kind `classes`, whose numbers are
-- those of all classes in order, only the most frequent is there: the typical run.
-- Left out are runs that ended by an error, or whose trouble kept them from showing anything.
WITH by_run AS (
  SELECT
    run_key,
    COUNT(*) AS messages,
    COUNT(*) FILTER (WHERE message_class = 'delivered') AS delivered,
    COUNT(*) FILTER (WHERE message_class = 'filtered-by-broker') AS filtered_by_broker,
    COUNT(*) FILTER (WHERE message_class = 'filtered-by-client') AS filtered_by_client,
    COUNT(*) FILTER (WHERE message_class = 'stranded') AS stranded,
    COUNT(*) FILTER (WHERE message_class = 'in-flight') AS in_flight,
    COUNT(*) FILTER (WHERE message_class = 'in-retry') AS in_retry,
    COUNT(*) FILTER (WHERE message_class = 'dead-letter') AS dead_letter,
    COUNT(*) FILTER (WHERE message_class = 'lost') AS lost,
    COUNT(*) FILTER (WHERE message_class = 'undetermined') AS undetermined,
    COUNT(broker_track) AS broker_asked,
    COUNT(dashboard_track) AS dashboard_asked,
    COUNT(*) FILTER (WHERE broker_track IS NOT NULL AND dashboard_track IS NOT NULL) AS both_asked,
    COUNT(*) FILTER (
      WHERE broker_track = 'CONSUMED' AND message_class NOT IN ('delivered', 'in-retry', 'dead-letter')
    ) AS broker_consumed_unheard,
    COUNT(*) FILTER (
      WHERE dashboard_track = 'CONSUMED' AND message_class NOT IN ('delivered', 'in-retry', 'dead-letter')
    ) AS dashboard_consumed_unheard,
    COUNT(*) FILTER (
      WHERE broker_track IN ('CONSUMED_BUT_FILTERED', 'NOT_CONSUME_YET')
      AND message_class IN ('delivered', 'in-retry', 'dead-letter')
    ) AS broker_unconsumed_heard,
    COUNT(*) FILTER (
      WHERE dashboard_track IN ('CONSUMED_BUT_FILTERED', 'NOT_CONSUME_YET')
      AND message_class IN ('delivered', 'in-retry', 'dead-letter')
    ) AS dashboard_unconsumed_heard,
    COUNT(*) FILTER (WHERE broker_track <> dashboard_track) AS tools_differ
  FROM messages
  GROUP BY run_key
),
alike AS (
  SELECT
    scenario, client, rocketmq, cluster, timing, messages,
    CONCAT_WS(' ', delivered, filtered_by_broker, filtered_by_client, stranded, in_flight, in_retry, dead_letter,
      lost, undetermined) AS classes,
    CAST(delivered AS STRING) AS delivered,
    CAST(filtered_by_broker AS STRING) AS filtered_by_broker,
    CAST(filtered_by_client AS STRING) AS filtered_by_client,
    CAST(stranded AS STRING) AS stranded,
    CAST(in_flight AS STRING) AS in_flight,
    CAST(in_retry AS STRING) AS in_retry,
    CAST(dead_letter AS STRING) AS dead_letter,
    CAST(lost AS STRING) AS lost,
    CAST(undetermined AS STRING) AS undetermined,
    CAST(broker_asked AS STRING) AS broker_asked,
    CAST(dashboard_asked AS STRING) AS dashboard_asked,
    CAST(both_asked AS STRING) AS both_asked,
    CAST(broker_consumed_unheard AS STRING) AS broker_consumed_unheard,
    CAST(dashboard_consumed_unheard AS STRING) AS dashboard_consumed_unheard,
    CAST(broker_unconsumed_heard AS STRING) AS broker_unconsumed_heard,
    CAST(dashboard_unconsumed_heard AS STRING) AS dashboard_unconsumed_heard,
    CAST(tools_differ AS STRING) AS tools_differ,
    COUNT(*) AS alike_runs,
    MAX((COALESCE(started, TIMESTAMP '1970-01-01'), source)) AS newest,
    MAX_BY(source, (COALESCE(started, TIMESTAMP '1970-01-01'), source)) AS source
  FROM by_run
  JOIN runs USING (run_key)
  WHERE trouble IS NULL AND outcome <> 'error'
  GROUP BY
    scenario, client, rocketmq, cluster, timing, messages, delivered, filtered_by_broker, filtered_by_client,
    stranded, in_flight, in_retry, dead_letter, lost, undetermined, broker_asked, dashboard_asked,
    both_asked, broker_consumed_unheard, dashboard_consumed_unheard, broker_unconsumed_heard,
    dashboard_unconsumed_heard, tools_differ
),
histograms AS (
  SELECT
    scenario, client, rocketmq, cluster, timing, kind, messages, number,
    SUM(alike_runs) AS runs,
    MAX(newest) AS newest,
    MAX_BY(source, newest) AS example
  FROM alike
  UNPIVOT (
    number FOR kind IN (
      classes, delivered, filtered_by_broker, filtered_by_client, stranded, in_flight, in_retry, dead_letter, lost,
      undetermined, broker_asked, dashboard_asked, both_asked, broker_consumed_unheard,
      dashboard_consumed_unheard, broker_unconsumed_heard, dashboard_unconsumed_heard, tools_differ
    )
  )
  GROUP BY scenario, client, rocketmq, cluster, timing, kind, messages, number
),
placed AS (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY scenario, client, rocketmq, cluster, timing, kind ORDER BY runs DESC, newest DESC, number
    ) AS place
  FROM histograms
)
SELECT scenario, client, rocketmq, cluster, timing, kind, messages, number, CAST(runs AS BIGINT) AS runs, example
FROM placed
WHERE kind <> 'classes' OR place = 1
ORDER BY scenario, client, rocketmq, cluster, timing, kind, messages, number
