CAST(
            CASE what
                WHEN 'delivery' THEN CASE WHEN NOT unnoticed THEN hold_ms END
                WHEN 'offset-correction' THEN hold_ms + persist_ms
                WHEN 'rebalance' THEN CASE WHEN unnoticed THEN noticing_ms WHEN NOT unnoticed THEN 0 END + rebalance_ms
                WHEN 'subscription-flip' THEN COALESCE(
                    settings_ms,
                    CASE WHEN unnoticed THEN noticing_ms WHEN NOT unnoticed THEN 0 END + rebalance_ms + heartbeat_ms
                )
            END AS BIGINT
        )
