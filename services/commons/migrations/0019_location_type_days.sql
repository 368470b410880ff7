-- +goose Up
-- The days of effect of location types, the trees that they serve, and their level in the tree.
ALTER TABLE location_type
    -- First day, and the day after the last.
    ADD COLUMN from_date date NOT NULL DEFAULT '1900-01-01',
    ADD COLUMN to_date date NOT NULL DEFAULT '3000-01-01',
    -- ORG or FORECAST; empty for both.
    ADD COLUMN map_context text NOT NULL DEFAULT '' CHECK (map_context IN ('', 'ORG', 'FORECAST')),
    ADD COLUMN hierarchy_order int NOT NULL DEFAULT 0,
    ADD CONSTRAINT location_type_days CHECK (to_date > from_date);
