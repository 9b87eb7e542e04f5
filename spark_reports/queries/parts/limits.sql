-- RocketMQ's timers that may have to run out, as text in the order in which they do, and what they allow together:
-- null where the folder of a run doesn't tell all of them, or where they are those of several kinds of clients.
timers AS (
    SELECT
        r.run_key,
        r.scenario,
        r.client,
        r.rocketmq,
        r.cluster,
        r.timing,
        r.source,
        r.timers_ms AS t,
        CASE WHEN r.client LIKE '%+%' THEN r.client ELSE SPLIT_PART(r.client, ' ', 1) END AS kind,
        -- How long messages take then is the faults' doing: of their deliveries it is not known what they may take.
        CASE WHEN f.run_key IS NULL THEN FALSE END AS delivered_unnoticed
    FROM runs AS r
    LEFT JOIN (SELECT DISTINCT run_key FROM faults) AS f ON r.run_key = f.run_key
),
parts AS (
    SELECT
        *,
        'broker.channel-expiry=' || t['broker.channel-expiry'] || ' broker.channel-scan=' || t['broker.channel-scan']
            AS noticing,
        t['broker.channel-expiry'] + t['broker.channel-scan'] AS noticing_ms,
        'rebalance=' || t[CONCAT(kind, '.rebalance')]
            || COALESCE(' rebalance-min=' || t[CONCAT(kind, '.rebalance-min')], '') AS rebalance,
        t[CONCAT(kind, '.rebalance')] + COALESCE(t[CONCAT(kind, '.rebalance-min')], 0) AS rebalance_ms,
        'heartbeat=' || t[CONCAT(kind, '.heartbeat')] AS heartbeat,
        t[CONCAT(kind, '.heartbeat')] AS heartbeat_ms,
        'settings=' || t[CONCAT(kind, '.settings')] AS settings,
        t[CONCAT(kind, '.settings')] AS settings_ms,
        CASE
            WHEN kind = 'grpc' THEN 'proxy.hold-receive=' || t['proxy.hold-receive']
            WHEN kind NOT LIKE '%grpc%' THEN 'broker.hold-pull=' || t['broker.hold-pull']
        END || ' broker.hold-check=' || t['broker.hold-check'] AS hold,
        CASE WHEN kind = 'grpc' THEN t['proxy.hold-receive'] WHEN kind NOT LIKE '%grpc%' THEN t['broker.hold-pull'] END
            + t['broker.hold-check'] AS hold_ms,
        CASE WHEN kind = 'grpc' THEN '' ELSE ' persist-offsets=' || t[CONCAT(kind, '.persist-offsets')] END AS persist,
        CASE WHEN kind = 'grpc' THEN 0 ELSE t[CONCAT(kind, '.persist-offsets')] END AS persist_ms
    FROM timers
),
-- Runs have few different ones: all parts together are their name.
settings AS (
    SELECT *, CONCAT_WS(' ', noticing, rebalance, heartbeat, settings, hold, persist) AS setting
    FROM parts
),
-- `unnoticed`: brokers had to notice by themselves what began it; null: not known, or a delivery of a run with faults.
kinds AS (
    SELECT 'delivery' AS what, FALSE AS unnoticed
    UNION ALL SELECT 'delivery', CAST(NULL AS BOOLEAN)
    UNION ALL SELECT 'offset-correction', FALSE
    UNION ALL SELECT 'offset-correction', CAST(NULL AS BOOLEAN)
    UNION ALL SELECT 'rebalance', FALSE
    UNION ALL SELECT 'rebalance', TRUE
    UNION ALL SELECT 'rebalance', CAST(NULL AS BOOLEAN)
    UNION ALL SELECT 'subscription-flip', FALSE
    UNION ALL SELECT 'subscription-flip', TRUE
    UNION ALL SELECT 'subscription-flip', CAST(NULL AS BOOLEAN)
),
limits AS (
    SELECT
        s.setting,
        k.what,
        k.unnoticed,
        CASE k.what
            WHEN 'delivery' THEN CASE WHEN NOT k.unnoticed THEN s.hold END
            WHEN 'offset-correction' THEN s.hold || s.persist
            WHEN 'rebalance' THEN CASE WHEN k.unnoticed THEN s.noticing || ' ' WHEN NOT k.unnoticed THEN '' END || s.rebalance
            WHEN 'subscription-flip' THEN COALESCE(
                s.settings,
                CASE WHEN k.unnoticed THEN s.noticing || ' ' WHEN NOT k.unnoticed THEN '' END || s.rebalance || ' ' || s.heartbeat
            )
        END AS timers,
        CAST(
            CASE k.what
                WHEN 'delivery' THEN CASE WHEN NOT k.unnoticed THEN s.hold_ms END
                WHEN 'offset-correction' THEN s.hold_ms + s.persist_ms
                WHEN 'rebalance' THEN CASE WHEN k.unnoticed THEN s.noticing_ms WHEN NOT k.unnoticed THEN 0 END + s.rebalance_ms
                WHEN 'subscription-flip' THEN COALESCE(
                    s.settings_ms,
                    CASE WHEN k.unnoticed THEN s.noticing_ms WHEN NOT k.unnoticed THEN 0 END + s.rebalance_ms + s.heartbeat_ms
                )
            END AS BIGINT
        ) AS limit_ms
    FROM (
        SELECT DISTINCT
            setting, noticing, noticing_ms, rebalance, rebalance_ms, heartbeat, heartbeat_ms, settings, settings_ms,
            hold, hold_ms, persist, persist_ms
        FROM settings
    ) AS s
    CROSS JOIN kinds AS k
)
