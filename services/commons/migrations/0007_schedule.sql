-- +goose Up
-- Projections of scheduling's events, for queries for scheduled persons. They have the data that all
-- generated days follow from, but no generated days. Rows are replaced only by states with a larger revision.
-- No foreign keys, because events arrive in any order.

-- The segments of a pattern's shifts, which never change.
CREATE TABLE pattern_segment (
    tenant_id    bigint   NOT NULL,
    pattern_id   bigint   NOT NULL,
    -- From 0.
    cycle_day    int      NOT NULL,
    -- The position of the shift among all entries of the cycle day, and of the segment in the shift.
    ordinal      smallint NOT NULL,
    segment      smallint NOT NULL,
    -- The path of the job; '' for the person's primary job on the day; U+0001 with an id if only the id of
    -- the job is known.
    place        text     COLLATE "C" NOT NULL,
    -- Seconds after the midnight that begins the shift's day.
    start_second int      NOT NULL,
    end_second   int      NOT NULL,
    PRIMARY KEY (tenant_id, pattern_id, cycle_day, ordinal, segment)
);
CREATE INDEX pattern_segment_place ON pattern_segment (tenant_id, place, pattern_id);

-- The revisions of the stored data of a person.
CREATE TABLE schedule_head (
    tenant_id       bigint NOT NULL,
    person_id       bigint NOT NULL,
    spans_revision  bigint NOT NULL DEFAULT 0,
    leave_revision  bigint NOT NULL DEFAULT 0,
    -- All entered shifts up to this revision are known.
    shifts_revision bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, person_id)
);

-- The pattern of a range of days, with its position in the cycle on the first day.
CREATE TABLE schedule_span (
    tenant_id  bigint   NOT NULL,
    person_id  bigint   NOT NULL,
    lane       smallint NOT NULL,
    from_date  date     NOT NULL,
    to_date    date     NOT NULL CHECK (to_date > from_date),
    pattern_id bigint   NOT NULL,
    position   int      NOT NULL,
    day_count  int      NOT NULL CHECK (day_count > 0),
    PRIMARY KEY (tenant_id, person_id, from_date, lane)
);
CREATE INDEX schedule_span_pattern ON schedule_span (tenant_id, pattern_id, person_id);

-- Shifts that users entered. Deleted shifts have the person NULL: their revision protects against older
-- states.
CREATE TABLE entered_shift (
    tenant_id     bigint NOT NULL,
    id            bigint NOT NULL,
    revision      bigint NOT NULL,
    person_id     bigint,
    -- The generated shift that this one replaces.
    hides_person  bigint,
    hides_day     date,
    hides_lane    smallint,
    hides_ordinal smallint,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX entered_shift_person ON entered_shift (tenant_id, person_id) WHERE person_id IS NOT NULL;
CREATE INDEX entered_shift_hides ON entered_shift (tenant_id, hides_person, hides_day) WHERE hides_person IS NOT NULL;

CREATE TABLE entered_shift_segment (
    tenant_id    bigint   NOT NULL,
    shift_id     bigint   NOT NULL,
    segment      smallint NOT NULL,
    person_id    bigint   NOT NULL,
    day          date     NOT NULL,
    -- The same format as in pattern_segment.
    place        text     COLLATE "C" NOT NULL,
    start_second int      NOT NULL,
    end_second   int      NOT NULL,
    PRIMARY KEY (tenant_id, shift_id, segment)
);
CREATE INDEX entered_shift_segment_place ON entered_shift_segment (tenant_id, place, day) INCLUDE (person_id);
CREATE INDEX entered_shift_segment_day ON entered_shift_segment (tenant_id, day) INCLUDE (person_id);
CREATE INDEX entered_shift_segment_person ON entered_shift_segment (tenant_id, person_id, day);

-- Leave that replaces all shifts of its first day or, with an end, the parts of them between two times.
CREATE TABLE leave_stretch (
    tenant_id    bigint NOT NULL,
    person_id    bigint NOT NULL,
    from_day     date   NOT NULL,
    to_day       date   NOT NULL CHECK (to_day >= from_day),
    start_second int    NOT NULL,
    -- Seconds after the midnight that begins from_day; 0 for the whole day.
    end_second   int    NOT NULL
);
CREATE INDEX leave_stretch_person ON leave_stretch (tenant_id, person_id, to_day);

SELECT isolate_tenants(isolated, 'subselect_strict')
FROM unnest(ARRAY['pattern_segment', 'schedule_head', 'schedule_span', 'entered_shift',
    'entered_shift_segment', 'leave_stretch']::regclass[]) AS isolated;
