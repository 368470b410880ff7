-- +goose Up
-- Space on the pages for new versions of rows: every change of a schedule replaces the spans of its persons.
ALTER TABLE schedule_span SET (fillfactor = 60);
