-- +goose Up
-- Selected holidays, from commons: one row for each year.
CREATE TABLE holiday_date (
    tenant_id  bigint NOT NULL,
    holiday_id bigint NOT NULL,
    year       int    NOT NULL,
    -- The days of the holiday; the last one is not included.
    from_date  date   NOT NULL,
    to_date    date   NOT NULL,
    -- rotaloom.commons.v1.HolidayChanged with this date only.
    body       bytea  NOT NULL,
    PRIMARY KEY (tenant_id, holiday_id, year)
);
CREATE INDEX holiday_date_from ON holiday_date (tenant_id, from_date);

SELECT isolate_tenants('holiday_date', 'inline_strict');
