-- +goose Up
-- Scheduling owns employment terms and their members. A database with such rows was written by an older
-- build.
-- +goose StatementBegin
DO $$
BEGIN
    ALTER TABLE employment_term NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE person NO FORCE ROW LEVEL SECURITY;
    IF EXISTS (SELECT FROM employment_term) OR EXISTS (SELECT FROM person) THEN
        RAISE EXCEPTION 'an older build of Rotaloom wrote this data, and this build cannot read it: start with an empty database or state folder, and move the data through the API as CHANGELOG.md says';
    END IF;
    ALTER TABLE person FORCE ROW LEVEL SECURITY;
END $$;
-- +goose StatementEnd
DROP TABLE membership, membership_head, employment_term, termination;

-- The days of terminated employment: payroll leaves such persons out.
ALTER TABLE person ADD COLUMN terminated datemultirange NOT NULL DEFAULT '{}';
