-- +goose Up
-- Leave does not change locked days: the table has the leave edits that could cover shifts of these days, as
-- they were when the days were locked. Days are never unlocked, so these rows never change.
CREATE TABLE locked_leave (
    tenant_id   bigint NOT NULL,
    employee_id bigint NOT NULL,
    -- The days of one lock: the first, and the day after the last.
    lock_from   date   NOT NULL,
    lock_to     date   NOT NULL,
    -- As in leave_edit.
    id          bigint NOT NULL,
    from_day    date   NOT NULL,
    to_day      date   NOT NULL,
    version     bigint NOT NULL,
    body        bytea  NOT NULL,
    PRIMARY KEY (tenant_id, employee_id, lock_from, id)
);
INSERT INTO locked_leave (tenant_id, employee_id, lock_from, lock_to, id, from_day, to_day, version, body)
SELECT l.tenant_id, l.employee_id, l.from_date, l.to_date, e.id, e.from_day, e.to_day, e.version, e.body
FROM day_lock l JOIN leave_edit e USING (tenant_id, employee_id)
WHERE e.to_day >= l.from_date AND e.from_day < l.to_date + 7;
SELECT isolate_tenants('locked_leave', 'subselect_strict');
