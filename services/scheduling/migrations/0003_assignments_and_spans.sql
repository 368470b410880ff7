-- +goose Up
-- The schedule: assignments are what planners decided, spans are what follows
-- for each employee, items are what people entered, locks are what must not
-- change. No table holds a row for a day that can be computed.

-- A version of an assignment of a pattern to an employment term, or to one
-- employee. Versions are never overwritten: believed_from and believed_until
-- say when each was held to be true.
CREATE TABLE pattern_assignment (
    tenant_id          bigint      NOT NULL,
    id                 bigint      NOT NULL,
    version            int         NOT NULL,
    employment_term_id bigint,
    employee_id        bigint,
    -- First day, and the day after the last.
    from_date          date        NOT NULL,
    to_date            date        NOT NULL CHECK (to_date > from_date),
    pattern_id         bigint      NOT NULL,
    day_count          int         NOT NULL,
    -- A day on which cycle day 1 falls, before the offset.
    anchor             date        NOT NULL,
    start_date_offset  int         NOT NULL,
    override           boolean     NOT NULL,
    -- The layer that its entries take when others are visible on their days.
    lane               smallint    NOT NULL,
    -- The order in which planners decided; later ones stand above earlier ones.
    seq                bigint      NOT NULL,
    -- The propagation that applies this version.
    propagation_id     bigint      NOT NULL,
    believed_from      timestamptz NOT NULL DEFAULT now(),
    believed_until     timestamptz NOT NULL DEFAULT 'infinity',
    PRIMARY KEY (tenant_id, id, version),
    FOREIGN KEY (tenant_id, pattern_id) REFERENCES schedule_pattern (tenant_id, id),
    CHECK ((employment_term_id IS NULL) <> (employee_id IS NULL))
);
CREATE SEQUENCE pattern_assignment_id;
CREATE SEQUENCE pattern_assignment_seq;
CREATE UNIQUE INDEX pattern_assignment_current ON pattern_assignment (tenant_id, id)
    WHERE believed_until = 'infinity';
CREATE INDEX pattern_assignment_term ON pattern_assignment (tenant_id, employment_term_id, id);
CREATE INDEX pattern_assignment_employee ON pattern_assignment (tenant_id, employee_id, id)
    WHERE employee_id IS NOT NULL;

-- The application of a change to the schedules it concerns.
CREATE TABLE propagation (
    tenant_id          bigint      NOT NULL,
    id                 bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    -- PATTERN, INHERITANCE or MEMBERSHIP.
    cause              text        NOT NULL,
    -- Whose employees are concerned: terms, or employees by id.
    employment_term_ids bigint[]   NOT NULL DEFAULT '{}',
    employee_ids       bigint[]    NOT NULL DEFAULT '{}',
    -- ACCEPTED, RUNNING, FINISHED or FAILED.
    state              text        NOT NULL DEFAULT 'ACCEPTED',
    employees_total    bigint      NOT NULL DEFAULT 0,
    employees_done     bigint      NOT NULL DEFAULT 0,
    batches_total      int         NOT NULL DEFAULT 0,
    batches_done       int         NOT NULL DEFAULT 0,
    spans_written      bigint      NOT NULL DEFAULT 0,
    -- Employees for whom days were left alone.
    skipped_locked     bigint      NOT NULL DEFAULT 0,
    skipped_cut_loose  bigint      NOT NULL DEFAULT 0,
    accepted_at        timestamptz NOT NULL DEFAULT now(),
    started_at         timestamptz,
    finished_at        timestamptz,
    -- When it last came further, or was last reminded of.
    moved_at           timestamptz NOT NULL DEFAULT now(),
    -- Reminders since it last came further.
    reminders          int         NOT NULL DEFAULT 0,
    error              text        NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, id)
);
-- What the sweep and the status of schedules look for. Not moved_at, which every
-- batch changes: the row then needs no new index entries.
CREATE INDEX propagation_open ON propagation (tenant_id, id) WHERE state <> 'FINISHED';

-- A share of a propagation's employees, brought up to date in one transaction.
CREATE TABLE propagation_batch (
    tenant_id      bigint      NOT NULL,
    propagation_id bigint      NOT NULL,
    batch          int         NOT NULL,
    -- Ascending.
    employee_ids   bigint[]    NOT NULL,
    done_at        timestamptz,
    PRIMARY KEY (tenant_id, propagation_id, batch),
    FOREIGN KEY (tenant_id, propagation_id) REFERENCES propagation (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX propagation_batch_open ON propagation_batch (tenant_id, propagation_id) WHERE done_at IS NULL;

-- What holds now for an employee: from here to there, this pattern, standing
-- at this position of its cycle on the first day.
CREATE TABLE span (
    tenant_id      bigint      NOT NULL,
    employee_id    bigint      NOT NULL,
    lane           smallint    NOT NULL,
    -- First day, and the day after the last.
    from_date      date        NOT NULL,
    to_date        date        NOT NULL,
    pattern_id     bigint      NOT NULL,
    -- Position in the cycle on from_date, from 0, and the cycle's length.
    position       int         NOT NULL,
    day_count      int         NOT NULL,
    assignment_id  bigint      NOT NULL,
    -- Whether it came from the employee's term.
    inherited      boolean     NOT NULL,
    -- The propagation that wrote it; also the version of its entries.
    propagation_id bigint      NOT NULL,
    believed_from  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, employee_id, lane, from_date)
);

-- What held before. Rows move here from span and never change.
CREATE TABLE span_past (
    tenant_id      bigint      NOT NULL,
    employee_id    bigint      NOT NULL,
    lane           smallint    NOT NULL,
    from_date      date        NOT NULL,
    to_date        date        NOT NULL,
    pattern_id     bigint      NOT NULL,
    position       int         NOT NULL,
    day_count      int         NOT NULL,
    assignment_id  bigint      NOT NULL,
    inherited      boolean     NOT NULL,
    propagation_id bigint      NOT NULL,
    believed_from  timestamptz NOT NULL,
    believed_until timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX span_past_employee ON span_past (tenant_id, employee_id, believed_until);

-- What people entered: shifts and pay code edits by hand, and generated
-- entries that were edited or deleted. Such a one keeps the id of the entry,
-- and hides it.
CREATE TABLE schedule_item (
    tenant_id   bigint      NOT NULL,
    id          bigint      NOT NULL,
    -- NULL for an open shift.
    employee_id bigint,
    -- SHIFT or PAY_CODE_EDIT.
    kind        text        NOT NULL,
    -- First and last day that it touches.
    from_day    date        NOT NULL,
    to_day      date        NOT NULL,
    -- The day of the generated entry that it hides.
    hides_day   date,
    -- A tombstone: the generated entry stays deleted.
    deleted     boolean     NOT NULL DEFAULT false,
    version     bigint      NOT NULL DEFAULT 1,
    -- rotaloom.scheduling.v1.Shift or PayCodeEdit.
    body        bytea       NOT NULL,
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE SEQUENCE schedule_item_id MAXVALUE 4503599627370495;
CREATE INDEX schedule_item_employee ON schedule_item (tenant_id, employee_id, from_day);
CREATE INDEX schedule_item_hides ON schedule_item (tenant_id, employee_id, hides_day)
    WHERE hides_day IS NOT NULL;

CREATE TABLE day_lock (
    tenant_id   bigint      NOT NULL,
    id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    employee_id bigint      NOT NULL,
    -- First day, and the day after the last.
    from_date   date        NOT NULL,
    to_date     date        NOT NULL CHECK (to_date > from_date),
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX day_lock_employee ON day_lock (tenant_id, employee_id, from_date);

-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['pattern_assignment', 'propagation_batch', 'span', 'span_past',
                                'schedule_item', 'day_lock'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        -- In a subquery the setting is read once for a statement, not for each row
        -- that it writes.
        EXECUTE format($p$CREATE POLICY tenant ON %I USING
            (tenant_id = (SELECT nullif(current_setting('rotaloom.tenant_id', true), '')::bigint))$p$, name);
    END LOOP;
END $$;
-- +goose StatementEnd

-- The sweep reads the open propagations of all tenants.
ALTER TABLE propagation ENABLE ROW LEVEL SECURITY;
ALTER TABLE propagation FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON propagation USING
    (tenant_id::text = current_setting('rotaloom.tenant_id', true));
CREATE POLICY sweep ON propagation FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');
