-- +goose Up
-- Employment terms moved from timekeeping to scheduling, so their copies here can no longer be compared with
-- their owner. A database with persons was written by an older build.
-- +goose StatementBegin
DO $$
BEGIN
    ALTER TABLE person NO FORCE ROW LEVEL SECURITY;
    IF EXISTS (SELECT FROM person) THEN
        RAISE EXCEPTION 'an older build of Rotaloom wrote this data, and this build cannot read it: start with an empty database or state folder, and move the data through the API as CHANGELOG.md says';
    END IF;
    ALTER TABLE person FORCE ROW LEVEL SECURITY;
END $$;
-- +goose StatementEnd

-- Timecards read the pay code edits of schedules from scheduling.
DROP TABLE pattern_pay_code_edit;
DROP TABLE entered_pay_code_edit;
