-- +goose Up
-- The leave settings of a tenant. Bodies are the messages of rotaloom.timekeeping.v1 without id, version and
-- qualifier.
-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['leave_type', 'leave_rule', 'leave_custom_field', 'leave_profile'] LOOP
        EXECUTE format($t$CREATE TABLE %I (
            tenant_id  bigint      NOT NULL,
            id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
            name       text        NOT NULL,
            version    bigint      NOT NULL DEFAULT 1,
            body       bytea       NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (tenant_id, id))$t$, name);
        EXECUTE format('CREATE UNIQUE INDEX %I ON %I (tenant_id, lower(name))', name || '_name', name);
    END LOOP;
END $$;
-- +goose StatementEnd

-- The leave profile of an employee. It is not effective-dated.
CREATE TABLE leave_profile_assignment (
    tenant_id        bigint NOT NULL,
    employee_id      bigint NOT NULL,
    leave_profile_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, employee_id),
    FOREIGN KEY (tenant_id, leave_profile_id) REFERENCES leave_profile (tenant_id, id)
);
CREATE INDEX leave_profile_assignment_profile ON leave_profile_assignment (tenant_id, leave_profile_id);

-- Additional data of a leave case. All of it is deleted with the case.
CREATE TABLE leave_case_rule (
    tenant_id      bigint NOT NULL,
    id             bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    leave_case_id  bigint NOT NULL,
    leave_rule_id  bigint NOT NULL,
    -- The rule applies from this day until the next rule.
    effective_date date   NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT leave_case_rule_day UNIQUE (tenant_id, leave_case_id, effective_date),
    FOREIGN KEY (tenant_id, leave_case_id) REFERENCES leave_case (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, leave_rule_id) REFERENCES leave_rule (tenant_id, id)
);
CREATE INDEX leave_case_rule_rule ON leave_case_rule (tenant_id, leave_rule_id);

CREATE TABLE leave_case_custom_field (
    tenant_id             bigint NOT NULL,
    leave_case_id         bigint NOT NULL,
    leave_custom_field_id bigint NOT NULL,
    value                 text   NOT NULL,
    PRIMARY KEY (tenant_id, leave_case_id, leave_custom_field_id),
    FOREIGN KEY (tenant_id, leave_case_id) REFERENCES leave_case (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, leave_custom_field_id) REFERENCES leave_custom_field (tenant_id, id)
);
CREATE INDEX leave_case_custom_field_field ON leave_case_custom_field (tenant_id, leave_custom_field_id);

-- The granted amount of a leave type for a case. The last grant applies.
CREATE TABLE leave_grant (
    tenant_id      bigint      NOT NULL,
    leave_case_id  bigint      NOT NULL,
    leave_type_id  bigint      NOT NULL,
    -- Days.
    amount         numeric     NOT NULL CHECK (amount >= 0),
    granted_by     text        NOT NULL,
    granted_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, leave_case_id, leave_type_id),
    FOREIGN KEY (tenant_id, leave_case_id) REFERENCES leave_case (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, leave_type_id) REFERENCES leave_type (tenant_id, id)
);
CREATE INDEX leave_grant_type ON leave_grant (tenant_id, leave_type_id);

SELECT isolate_tenants(isolated, 'subselect_strict')
FROM unnest(ARRAY['leave_type', 'leave_rule', 'leave_custom_field', 'leave_profile', 'leave_profile_assignment',
    'leave_case_rule', 'leave_case_custom_field', 'leave_grant']::regclass[]) AS isolated;
