-- +goose Up
-- The past of spans in blocks: the spans that a worker replaces in one transaction are one row with a list
-- for each column. It compresses to a tenth of the size of one row per span, and is deleted with its
-- partition when it is old.
CREATE TABLE span_past_block (
    tenant_id         bigint        NOT NULL,
    -- The lowest and the highest of employee_ids.
    first_employee_id bigint        NOT NULL,
    last_employee_id  bigint        NOT NULL,
    believed_until    timestamptz   NOT NULL,
    -- One element for each span.
    employee_ids      bigint[]      NOT NULL,
    lanes             smallint[]    NOT NULL,
    from_dates        date[]        NOT NULL,
    to_dates          date[]        NOT NULL,
    pattern_ids       bigint[]      NOT NULL,
    positions         int[]         NOT NULL,
    day_counts        int[]         NOT NULL,
    assignment_ids    bigint[]      NOT NULL,
    inherited         boolean[]     NOT NULL,
    propagation_ids   bigint[]      NOT NULL,
    believed_from     timestamptz[] NOT NULL,
    series            bigint[]      NOT NULL
) PARTITION BY RANGE (believed_until);
CREATE INDEX span_past_block_employees ON span_past_block (tenant_id, last_employee_id, first_employee_id);
-- For rows of months without a partition.
CREATE TABLE span_past_block_other PARTITION OF span_past_block DEFAULT;
-- Existing rows.
INSERT INTO span_past_block
SELECT tenant_id, min(employee_id), max(employee_id), believed_until, array_agg(employee_id), array_agg(lane), array_agg(from_date),
    array_agg(to_date), array_agg(pattern_id), array_agg(position), array_agg(day_count), array_agg(assignment_id),
    array_agg(inherited), array_agg(propagation_id), array_agg(believed_from), array_agg(series)
FROM span_past GROUP BY tenant_id, believed_until;
DROP TABLE span_past;

-- +goose StatementBegin
-- Row-level security for a partition, so that a query that names it sees no more than through the table.
CREATE FUNCTION protect_span_past(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I USING
        (tenant_id::text = (SELECT current_setting('rotaloom.tenant_id', true)))$p$, name);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Creates the partition of a month of UTC if it does not exist.
CREATE FUNCTION make_span_past_month(year int, month int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name CONSTANT text := format('span_past_block_%s%s', to_char(year, 'FM0000'), to_char(month, 'FM00'));
BEGIN
    IF to_regclass(name) IS NULL THEN
        EXECUTE format('CREATE TABLE %I PARTITION OF span_past_block FOR VALUES FROM (%L) TO (%L)', name,
            format('%s-%s-01T00:00:00Z', year, month),
            format('%s-%s-01T00:00:00Z', year + month / 12, month % 12 + 1));
        PERFORM protect_span_past(name);
    END IF;
END $$;
-- +goose StatementEnd

SELECT protect_span_past('span_past_block'), protect_span_past('span_past_block_other');
-- The sweep deletes old rows of all tenants.
CREATE POLICY sweep_read ON span_past_block FOR SELECT USING (current_setting('rotaloom.tenant_id', true) = '*');
CREATE POLICY sweep ON span_past_block FOR DELETE USING (current_setting('rotaloom.tenant_id', true) = '*');
SELECT make_span_past_month(extract(year FROM now())::int, extract(month FROM now())::int);

-- The same by span. Queries for few employees read the blocks.
CREATE VIEW span_past WITH (security_invoker = true) AS
SELECT b.tenant_id, s.employee_id, s.lane, s.from_date, s.to_date, s.pattern_id, s.position, s.day_count, s.assignment_id,
    s.inherited, s.propagation_id, s.believed_from, s.series, b.believed_until
FROM span_past_block b
CROSS JOIN LATERAL unnest(b.employee_ids, b.lanes, b.from_dates, b.to_dates, b.pattern_ids, b.positions, b.day_counts,
    b.assignment_ids, b.inherited, b.propagation_ids, b.believed_from, b.series)
    AS s (employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id,
        believed_from, series);

-- Old finished propagations are deleted, too.
CREATE INDEX propagation_finished ON propagation (finished_at) WHERE state = 'FINISHED';
CREATE POLICY sweep_old ON propagation FOR DELETE USING (current_setting('rotaloom.tenant_id', true) = '*');
