CASE
            WHEN ms < 10 THEN FLOOR(ms * 100 + 0.5) / 100
            WHEN ms < 100 THEN FLOOR(ms * 10 + 0.5) / 10
            WHEN ms < 1000 THEN FLOOR(ms + 0.5)
            WHEN ms < 10000 THEN FLOOR(ms / 10 + 0.5) * 10
            WHEN ms < 100000 THEN FLOOR(ms / 100 + 0.5) * 100
            ELSE FLOOR(ms / 1000 + 0.5) * 1000
        END
