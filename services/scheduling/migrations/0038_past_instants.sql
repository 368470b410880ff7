-- +goose Up
-- +goose StatementBegin
-- A past time of the clock as an instant of the history. All changes that were committed when the clock showed the
-- time are included in the instant, and later ones are not. settled says whether no such change can still be
-- committed: then the instant of the time is always the same. shown is the current clock time.
CREATE FUNCTION settled_at(asked timestamptz, OUT instant timestamptz, OUT shown timestamptz, OUT settled boolean)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    complete timestamptz := settled_time();
    latest   CONSTANT bigint := (SELECT last_value FROM schedule_revision);
    reached  bigint;
    next     bigint;
BEGIN
    shown := clock_timestamp();
    instant := asked;
    settled := false;
    IF asked > shown OR complete < asked THEN
        RETURN;
    END IF;
    SELECT c.revision INTO reached FROM corrected_clock c WHERE c.showed <= asked ORDER BY c.showed DESC, c.revision DESC LIMIT 1;
    instant := greatest(asked, 'epoch'::timestamptz + coalesce(reached, 0) * interval '1 microsecond');
    IF instant = asked AND latest <= (extract(epoch FROM shown) * 1000000)::bigint + 10000 THEN
        settled := true;
        RETURN;
    END IF;
    -- Numbers are ahead of the clock, or were then. An open change may have drawn its number when the clock
    -- showed the time or less, and its row in corrected_clock is not visible yet. A settled number that was drawn
    -- later excludes this.
    INSERT INTO corrected_clock VALUES (latest, shown) ON CONFLICT DO NOTHING;
    complete := settled_time();
    SELECT c.revision INTO reached FROM corrected_clock c WHERE c.showed <= asked ORDER BY c.showed DESC, c.revision DESC LIMIT 1;
    SELECT c.revision INTO next FROM corrected_clock c WHERE c.showed > asked ORDER BY c.showed, c.revision LIMIT 1;
    instant := greatest(asked, 'epoch'::timestamptz + coalesce(reached, 0) * interval '1 microsecond');
    settled := coalesce('epoch'::timestamptz + next * interval '1 microsecond' <= complete, false);
END $$;
-- +goose StatementEnd
