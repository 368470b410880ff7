-- +goose Up
-- The requisitions.
CREATE TABLE opportunity (
    tenant_id  bigint      NOT NULL,
    id         uuid        NOT NULL,
    -- NULL only in the transaction that inserts the row.
    changed    bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted    boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.Opportunity without properties that follow from others.
    body       bytea       NOT NULL,
    requisition_number text NOT NULL,
    -- Persons of commons.
    recruiter_id            bigint,
    hiring_manager_id       bigint,
    onboarding_owner_id     bigint,
    is_shared_with_everyone boolean NOT NULL,
    recruiting_process_id   bigint,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, recruiting_process_id) REFERENCES recruiting_process (tenant_id, id)
);
CREATE UNIQUE INDEX opportunity_changed ON opportunity (tenant_id, changed);
CREATE UNIQUE INDEX opportunity_requisition_number ON opportunity (tenant_id, lower(requisition_number));
SELECT isolate_tenants('opportunity');

-- The last requisition number that the product gave in each tenant.
CREATE TABLE requisition_counter (
    tenant_id bigint NOT NULL PRIMARY KEY,
    number    bigint NOT NULL
);
SELECT isolate_tenants('requisition_counter');

-- The recruiters that an opportunity is shared with.
CREATE TABLE opportunity_recruiter (
    tenant_id      bigint      NOT NULL,
    opportunity_id uuid        NOT NULL,
    person_id      bigint      NOT NULL,
    shared_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, opportunity_id, person_id),
    FOREIGN KEY (tenant_id, opportunity_id) REFERENCES opportunity (tenant_id, id)
);
SELECT isolate_tenants('opportunity_recruiter');

-- The questions to the applicants of an opportunity.
CREATE TABLE screening_question (
    tenant_id      bigint      NOT NULL,
    id             uuid        NOT NULL,
    changed        bigint,
    created_at     timestamptz NOT NULL DEFAULT now(),
    deleted        boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.ScreeningQuestion without the other columns.
    body           bytea       NOT NULL,
    number         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    opportunity_id uuid        NOT NULL,
    -- Whether an application has an answer, so that the question stays as it is.
    answered       boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, opportunity_id) REFERENCES opportunity (tenant_id, id)
);
CREATE UNIQUE INDEX screening_question_changed ON screening_question (tenant_id, changed);
CREATE INDEX screening_question_opportunity ON screening_question (tenant_id, opportunity_id, number);
SELECT isolate_tenants('screening_question');

-- The assessments that the candidates of an opportunity take.
CREATE TABLE opportunity_assessment (
    tenant_id      bigint      NOT NULL,
    id             uuid        NOT NULL,
    changed        bigint,
    created_at     timestamptz NOT NULL DEFAULT now(),
    deleted        boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.OpportunityAssessment without the other columns.
    body           bytea       NOT NULL,
    number         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    opportunity_id uuid        NOT NULL,
    name           text        NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, opportunity_id) REFERENCES opportunity (tenant_id, id)
);
CREATE UNIQUE INDEX opportunity_assessment_changed ON opportunity_assessment (tenant_id, changed);
CREATE INDEX opportunity_assessment_opportunity ON opportunity_assessment (tenant_id, opportunity_id, number);
CREATE UNIQUE INDEX opportunity_assessment_name ON opportunity_assessment (tenant_id, opportunity_id, lower(name)) WHERE NOT deleted;
SELECT isolate_tenants('opportunity_assessment');
