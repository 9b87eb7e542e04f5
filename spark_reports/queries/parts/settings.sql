-- A row per run with RocketMQ's timers that may have to run out: as text in the order in which they do, and what they
-- allow together; null where its folder doesn't tell all of them, or where they are those of several kinds of clients.
-- Spark computes all of this wherever it is used: use it as seldom as possible.
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
        -- The proxy's timers count where a client receives from it: true where all do, null where some do.
        CASE
            WHEN r.timers_ms['proxy.hold-receive'] IS NULL THEN FALSE
            WHEN r.client NOT LIKE '%+%' THEN TRUE
        END AS by_proxy,
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
            WHEN by_proxy THEN 'proxy.hold-receive=' || t['proxy.hold-receive']
            WHEN NOT by_proxy THEN 'broker.hold-pull=' || t['broker.hold-pull']
        END || ' broker.hold-check=' || t['broker.hold-check'] AS hold,
        CASE WHEN by_proxy THEN t['proxy.hold-receive'] WHEN NOT by_proxy THEN t['broker.hold-pull'] END
            + t['broker.hold-check'] AS hold_ms,
        CASE WHEN by_proxy THEN '' ELSE ' persist-offsets=' || t[CONCAT(kind, '.persist-offsets')] END AS persist,
        CASE WHEN by_proxy THEN 0 ELSE t[CONCAT(kind, '.persist-offsets')] END AS persist_ms
    FROM timers
),
-- Runs have few different ones: all parts together are their name.
settings AS (
    SELECT
        *,
        CONCAT_WS(' ', noticing, rebalance, heartbeat, settings, hold, persist) AS setting,
        CASE WHEN NOT delivered_unnoticed THEN hold_ms END AS delivery_limit_ms
    FROM parts
)
