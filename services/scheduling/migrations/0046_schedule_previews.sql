-- +goose Up
-- Previews of changes of patterns: the request, the state that it was computed from, and a summary of the effect.
CREATE TABLE schedule_preview (
    tenant_id           bigint      NOT NULL,
    id                  bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    -- The name of the user.
    created_by          text        NOT NULL,
    -- rotaloom.scheduling.v1.CreateSchedulePreviewRequest.
    request             bytea       NOT NULL,
    -- Of the request that makes the change.
    digest              bytea       NOT NULL,
    -- The settled instant of the basis: later changes of the terms or their employees make the preview stale.
    settled_at          timestamptz NOT NULL,
    employment_term_ids bigint[]    NOT NULL,
    -- All terms of the affected employees that passed on patterns.
    inheriting_term_ids bigint[]    NOT NULL,
    -- The window of the summary: the first day, and the day after the last.
    from_date           date        NOT NULL,
    to_date             date        NOT NULL CHECK (to_date > from_date),
    -- rotaloom.scheduling.v1.SchedulePreview with the basis, the summary, the skipped days and the warnings.
    effect              bytea       NOT NULL,
    expires_at          timestamptz NOT NULL,
    applied_at          timestamptz,
    -- The propagation of the change, if it affected anything.
    propagation_id      bigint,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX schedule_preview_expires ON schedule_preview (expires_at);
SELECT isolate_tenants('schedule_preview', 'inline');
CREATE POLICY sweep_read ON schedule_preview FOR SELECT USING (current_setting('rotaloom.tenant_id', true) = '*');
CREATE POLICY sweep ON schedule_preview FOR DELETE USING (current_setting('rotaloom.tenant_id', true) = '*');
