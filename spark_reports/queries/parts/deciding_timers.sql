CASE what
            WHEN 'delivery' THEN CASE WHEN NOT unnoticed THEN hold END
            WHEN 'offset-correction' THEN hold || persist
            WHEN 'rebalance' THEN CASE WHEN unnoticed THEN noticing || ' ' WHEN NOT unnoticed THEN '' END || rebalance
            WHEN 'subscription-flip' THEN COALESCE(
                settings,
                CASE WHEN unnoticed THEN noticing || ' ' WHEN NOT unnoticed THEN '' END || rebalance || ' ' || heartbeat
            )
        END
