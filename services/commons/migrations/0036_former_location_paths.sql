-- +goose Up
-- The paths that a change took from a location on all their days, so that location_path has them no more.
-- Schedules and timecards keep paths as texts; such a text still names the location that had the path last.
CREATE TABLE former_location_path (
    tenant_id   bigint NOT NULL,
    path        text   NOT NULL,
    location_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, path),
    FOREIGN KEY (tenant_id, location_id) REFERENCES location (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX former_location_path_location ON former_location_path (tenant_id, location_id);
SELECT isolate_tenants('former_location_path', 'inline_strict');
