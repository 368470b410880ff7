-- +goose Up
-- The identity of generated entries. A series is the set of entries that one assignment generates from one
-- pattern at one position of its cycle for one employee. Its number is the number of a span's first entry of
-- the day; the other entries have the following numbers. The id of an entry consists of its series and its
-- day. No number is used twice, so that an id always names the same entry or nothing. Numbers are drawn in
-- blocks; the value of the sequence is the first number of a block.
CREATE SEQUENCE entry_series MINVALUE 1024 START 1024 INCREMENT 1024 MAXVALUE 8589934591;
ALTER TABLE span ADD COLUMN series bigint NOT NULL DEFAULT nextval('entry_series');
ALTER TABLE span_past ADD COLUMN series bigint NOT NULL DEFAULT 0;
CREATE INDEX span_series ON span (tenant_id, series);

-- The id of the original assignment, from which this one was derived by removing days, or by another pattern
-- from a day on.
ALTER TABLE pattern_assignment ADD COLUMN lineage_id bigint;
UPDATE pattern_assignment SET lineage_id = id;
-- The largest number of entries on a day of the pattern: the count of numbers that its series use.
ALTER TABLE pattern_assignment ADD COLUMN entries_per_day smallint NOT NULL DEFAULT 16;

-- The hidden entry: by the employee and the day (hides_day), the lineage of the assignment, and the position
-- in a pattern, which never changes.
ALTER TABLE schedule_item
    ADD COLUMN hides_employee_id bigint,
    ADD COLUMN hides_lineage_id  bigint,
    ADD COLUMN hides_pattern_id  bigint,
    -- From 0.
    ADD COLUMN hides_cycle_day   int,
    ADD COLUMN hides_ordinal     smallint,
    -- The current position of the hidden entry, or NULL if it is not generated. Reads leave this entry out.
    -- It follows from the columns above and from the spans, and is written with them.
    ADD COLUMN hidden_lane       smallint,
    ADD COLUMN hidden_ordinal    smallint;
UPDATE schedule_item SET hides_employee_id = (id >> 27) & ((1 << 25) - 1), hidden_lane = (id >> 4) & 15, hidden_ordinal = id & 15
WHERE hides_day IS NOT NULL;
DROP INDEX schedule_item_hides;
CREATE INDEX schedule_item_hides ON schedule_item (tenant_id, hides_employee_id, hides_day) WHERE hides_day IS NOT NULL;
