-- +goose Up
-- What this database knows about its own history. There is one row.
CREATE TABLE restore_state (
    one         boolean     NOT NULL DEFAULT true PRIMARY KEY CHECK (one),
    -- Counts the publications of marks. It never goes down.
    progress    bigint      NOT NULL DEFAULT 0,
    -- Says that the database had no sequences of its own when this table was made.
    fresh       boolean     NOT NULL,
    -- The place where the database was last seen: the cluster, the database, this table
    -- and the timeline. A dump that is loaded elsewhere carries the place that it came from.
    place       text        NOT NULL DEFAULT '',
    timeline    text        NOT NULL DEFAULT '',
    -- Since when, and why, the database counts as restored; NULL otherwise.
    restored_at timestamptz,
    reason      text        NOT NULL DEFAULT '',
    -- When an operator last finished a restore, and what was lost by then.
    finished_at timestamptz,
    report      text        NOT NULL DEFAULT ''
);
-- The versions of migrations are counted by sequences, too.
INSERT INTO restore_state (fresh)
SELECT NOT EXISTS (SELECT FROM pg_sequences WHERE schemaname = current_schema() AND sequencename NOT LIKE '%\_version\_id\_seq');

-- The highest marks of each service that were seen here, the own ones included once a
-- loss is known. A mark of progress has the name ''.
CREATE TABLE restore_witness (
    service text   NOT NULL,
    name    text   NOT NULL,
    mark    bigint NOT NULL,
    PRIMARY KEY (service, name)
);
