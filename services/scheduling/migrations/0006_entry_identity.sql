-- +goose Up
-- The identity of generated entries. A series is what one assignment generates
-- from one pattern at one position of its cycle for one employee: the number of
-- a span's first entry of the day, those of its other entries follow. With the
-- day a series makes the id of an entry. No number is used twice, so that an id
-- names the same entry or nothing, for ever. Numbers are drawn in blocks, of
-- which the value of the sequence is the first number.
CREATE SEQUENCE entry_series MINVALUE 1024 START 1024 INCREMENT 1024 MAXVALUE 8589934591;
ALTER TABLE span ADD COLUMN series bigint NOT NULL DEFAULT nextval('entry_series');
ALTER TABLE span_past ADD COLUMN series bigint NOT NULL DEFAULT 0;
CREATE INDEX span_series ON span (tenant_id, series);

-- The lineage is the id of the first of the assignments that came from one
-- another: by taking days away, or by another pattern from a day on.
ALTER TABLE pattern_assignment ADD COLUMN lineage_id bigint;
UPDATE pattern_assignment SET lineage_id = id;
-- The most entries on a day of the pattern: how many numbers its series take.
ALTER TABLE pattern_assignment ADD COLUMN entries_per_day smallint NOT NULL DEFAULT 16;

-- What an item hides: the entry that it was, told by the employee and the day
-- (hides_day), the lineage of the assignment, and the place in a pattern, which
-- never changes.
ALTER TABLE schedule_item
    ADD COLUMN hides_employee_id bigint,
    ADD COLUMN hides_lineage_id  bigint,
    ADD COLUMN hides_pattern_id  bigint,
    -- From 0.
    ADD COLUMN hides_cycle_day   int,
    ADD COLUMN hides_ordinal     smallint,
    -- Where the entry stands now, NULL when it is not generated: what reads leave
    -- out. It follows from the above and from the spans, and is written with them.
    ADD COLUMN hidden_lane       smallint,
    ADD COLUMN hidden_ordinal    smallint;
UPDATE schedule_item SET hides_employee_id = (id >> 27) & ((1 << 25) - 1), hidden_lane = (id >> 4) & 15, hidden_ordinal = id & 15
WHERE hides_day IS NOT NULL;
DROP INDEX schedule_item_hides;
CREATE INDEX schedule_item_hides ON schedule_item (tenant_id, hides_employee_id, hides_day) WHERE hides_day IS NOT NULL;
