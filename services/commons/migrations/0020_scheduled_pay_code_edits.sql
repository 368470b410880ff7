-- +goose Up
-- The pay code edits of schedules, for timecards: edits from patterns, and entered edits, whose other columns
-- are in entered_shift.

CREATE TABLE pattern_pay_code_edit (
    tenant_id  bigint   NOT NULL,
    pattern_id bigint   NOT NULL,
    -- As in pattern_segment.
    cycle_day  int      NOT NULL,
    ordinal    smallint NOT NULL,
    -- rotaloom.scheduling.v1.PayCodeAmount.
    amount     bytea    NOT NULL,
    PRIMARY KEY (tenant_id, pattern_id, cycle_day, ordinal)
);

CREATE TABLE entered_pay_code_edit (
    tenant_id bigint NOT NULL,
    id        bigint NOT NULL,
    person_id bigint NOT NULL,
    -- The first day, and the one after the last.
    from_day  date   NOT NULL,
    to_day    date   NOT NULL CHECK (to_day > from_day),
    -- rotaloom.scheduling.v1.PayCodeAmount.
    amount    bytea  NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX entered_pay_code_edit_person ON entered_pay_code_edit (tenant_id, person_id, from_day);

SELECT isolate_tenants(isolated, 'subselect_strict')
FROM unnest(ARRAY['pattern_pay_code_edit', 'entered_pay_code_edit']::regclass[]) AS isolated;

-- Stored patterns lack their pay code edits. The next comparison finds the difference and requests them.
-- +goose StatementBegin
DO $$
DECLARE t bigint;
        tenants bigint[];
BEGIN
    IF to_regclass('replica_head') IS NULL THEN
        RETURN; -- Nothing is copied here.
    END IF;
    PERFORM set_config('rotaloom.tenant_id', '*', true);
    tenants := ARRAY(SELECT DISTINCT tenant_id FROM replica_head WHERE topic = 'schedule_patterns');
    FOREACH t IN ARRAY tenants LOOP
        PERFORM set_config('rotaloom.tenant_id', t::text, true);
        UPDATE replica_head SET mark = mark # 1 WHERE tenant_id = t AND topic = 'schedule_patterns' AND NOT deleted;
    END LOOP;
    PERFORM set_config('rotaloom.tenant_id', '', true);
END $$;
-- +goose StatementEnd
