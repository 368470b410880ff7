-- +goose Up
-- The schedule. Assignments are decisions of planners. Spans are the resulting patterns of each employee.
-- Items are entries that users made. Locks protect days against changes. No table has a row for a day that
-- can be computed.

-- A version of an assignment of a pattern to an employment term, or to one employee. Versions are never
-- overwritten: believed_from and believed_until say when each one was the stored version.
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
    -- A day that is cycle day 1, before the offset.
    anchor             date        NOT NULL,
    start_date_offset  int         NOT NULL,
    override           boolean     NOT NULL,
    -- The layer of its entries if other entries are visible on their days.
    lane               smallint    NOT NULL,
    -- The order of the decisions of planners. Later ones are above earlier ones.
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

-- The application of a change to the affected schedules.
CREATE TABLE propagation (
    tenant_id          bigint      NOT NULL,
    id                 bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    -- PATTERN, INHERITANCE or MEMBERSHIP.
    cause              text        NOT NULL,
    -- The affected employees: employees on terms, or employees by id.
    employment_term_ids bigint[]   NOT NULL DEFAULT '{}',
    employee_ids       bigint[]    NOT NULL DEFAULT '{}',
    -- ACCEPTED, RUNNING, FINISHED or FAILED.
    state              text        NOT NULL DEFAULT 'ACCEPTED',
    employees_total    bigint      NOT NULL DEFAULT 0,
    employees_done     bigint      NOT NULL DEFAULT 0,
    batches_total      int         NOT NULL DEFAULT 0,
    batches_done       int         NOT NULL DEFAULT 0,
    spans_written      bigint      NOT NULL DEFAULT 0,
    -- Employees with skipped days.
    skipped_locked     bigint      NOT NULL DEFAULT 0,
    skipped_cut_loose  bigint      NOT NULL DEFAULT 0,
    accepted_at        timestamptz NOT NULL DEFAULT now(),
    started_at         timestamptz,
    finished_at        timestamptz,
    -- When it last made progress, or was last reminded.
    moved_at           timestamptz NOT NULL DEFAULT now(),
    -- The number of reminders since its last progress.
    reminders          int         NOT NULL DEFAULT 0,
    error              text        NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, id)
);
-- For the sweep and the status of schedules. Without moved_at, which every batch changes: an update of the
-- row then needs no new index entries.
CREATE INDEX propagation_open ON propagation (tenant_id, id) WHERE state <> 'FINISHED';

-- A part of a propagation's employees. It is updated in one transaction.
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

-- The pattern of an employee on a range of days, with its position in the cycle on the first day.
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
    -- Whether it comes from the employee's term.
    inherited      boolean     NOT NULL,
    -- The propagation that wrote it; also the version of its entries.
    propagation_id bigint      NOT NULL,
    believed_from  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, employee_id, lane, from_date)
);

-- Former spans. Rows move here from span and never change.
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

-- Entries that users made: shifts and pay code edits, and changed or deleted generated entries. A changed or
-- deleted entry keeps its id, and hides the generated one.
CREATE TABLE schedule_item (
    tenant_id   bigint      NOT NULL,
    id          bigint      NOT NULL,
    -- NULL for an open shift.
    employee_id bigint,
    -- SHIFT or PAY_CODE_EDIT.
    kind        text        NOT NULL,
    -- The first and the last day of the entry.
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

SELECT isolate_tenants(isolated, 'subselect_strict')
FROM unnest(ARRAY['pattern_assignment', 'propagation_batch', 'span', 'span_past',
    'schedule_item', 'day_lock']::regclass[]) AS isolated;

-- The sweep reads the open propagations of all tenants.
SELECT isolate_tenants('propagation', 'text');
CREATE POLICY sweep ON propagation FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');
