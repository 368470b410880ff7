-- +goose Up
-- Notes and certifications of leave cases. Both are deleted with the case.
CREATE SEQUENCE leave_note_id;
CREATE TABLE leave_note (
    tenant_id     bigint NOT NULL,
    id            bigint NOT NULL DEFAULT nextval('leave_note_id'),
    leave_case_id bigint NOT NULL,
    note_date     date   NOT NULL,
    note_text     text   NOT NULL,
    -- The user name of the last author.
    updated_by    text   NOT NULL,
    version       bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, leave_case_id) REFERENCES leave_case (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX leave_note_case ON leave_note (tenant_id, leave_case_id, id);

CREATE SEQUENCE leave_certification_id;
CREATE TABLE leave_certification (
    tenant_id     bigint      NOT NULL,
    id            bigint      NOT NULL DEFAULT nextval('leave_certification_id'),
    leave_case_id bigint      NOT NULL,
    from_day      date        NOT NULL,
    -- rotaloom.timekeeping.v1.LeaveCertification without id, leave case and the values in columns below.
    body          bytea       NOT NULL,
    entered_by    text        NOT NULL,
    entered_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, leave_case_id) REFERENCES leave_case (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX leave_certification_case ON leave_certification (tenant_id, leave_case_id, from_day);

SELECT isolate_tenants(isolated, 'subselect_strict')
FROM unnest(ARRAY['leave_note', 'leave_certification']::regclass[]) AS isolated;
