-- +goose Up
-- The history of this database, for detecting restores. There is one row.
CREATE TABLE restore_state (
    one         boolean     NOT NULL DEFAULT true PRIMARY KEY CHECK (one),
    -- Counts the publications of marks. It never decreases.
    progress    bigint      NOT NULL DEFAULT 0,
    -- Whether the database had no sequences when this table was created.
    fresh       boolean     NOT NULL,
    -- The place of the database when it was last seen: the cluster, the database, this table and the
    -- timeline. A dump that is loaded elsewhere still has the place of its origin.
    place       text        NOT NULL DEFAULT '',
    timeline    text        NOT NULL DEFAULT '',
    -- Since when, and why, the database counts as restored; NULL otherwise.
    restored_at timestamptz,
    reason      text        NOT NULL DEFAULT '',
    -- When an operator last finished a restore, and the loss that was known by then.
    finished_at timestamptz,
    report      text        NOT NULL DEFAULT ''
);
-- The versions of migrations also come from sequences.
INSERT INTO restore_state (fresh)
SELECT NOT EXISTS (SELECT FROM pg_sequences WHERE schemaname = current_schema() AND sequencename NOT LIKE '%\_version\_id\_seq');

-- The highest marks of each service that were seen here, including the service's own marks after a loss was
-- detected. A mark of progress has the name ''.
CREATE TABLE restore_witness (
    service text   NOT NULL,
    name    text   NOT NULL,
    mark    bigint NOT NULL,
    PRIMARY KEY (service, name)
);
