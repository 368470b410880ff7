package request_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

func TestBetween(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 123_000, time.UTC)
	const year = 365 * 24 * time.Hour
	for name, c := range map[string]struct {
		from, until string
		keep        time.Duration
		wantUntil   string
		wantCode    string
	}{
		"until now":                    {"2026-02-28T00:00:00", "", year, "2026-03-01T12:00:00.000123", ""},
		"the future is not known yet":  {"2026-02-28T00:00:00", "2026-03-02T00:00:00", year, "2026-03-01T12:00:00.000123", ""},
		"an earlier end":               {"2026-02-28T00:00:00.5Z", "2026-02-28T00:00:01+01:00", year, "", "WFS-111203"},
		"other zones are moved to UTC": {"2026-02-28T00:00:00+01:00", "2026-02-28T00:00:00Z", year, "2026-02-28T00:00:00", ""},
		"40 days":                      {"2026-01-01T00:00:00", "2026-02-10T00:00:00", year, "2026-02-10T00:00:00", ""},
		"more than 40 days":            {"2026-01-01T00:00:00", "2026-02-10T00:00:00.000001", year, "", "WFP-90001"},
		"not kept":                     {"2026-01-01T00:00:00", "2026-01-02T00:00:00", 24 * time.Hour, "", "WRL-00451"},
		"kept for ever":                {"2001-01-01T00:00:00", "2001-01-02T00:00:00", -1, "2001-01-02T00:00:00", ""},
		"later than now":               {"2026-03-01T12:00:01", "", year, "", "WFS-111203"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, err := request.ParseChanges(&schedulingv1.MultiReadScheduleChangesRequest{Where: &schedulingv1.ScheduleChangesWhere{
				Employees: &schedulingv1.EmployeeScheduleChanges{StartDateTime: c.from, EndDateTime: c.until},
			}})
			if err == nil {
				settled := now
				if !asked.Until.IsZero() && asked.Until.Before(now) {
					settled = asked.Until
				}
				err = asked.Between(settled, now, c.keep)
			}
			if c.wantCode != "" {
				require.Error(t, err)
				assert.Equal(t, c.wantCode, fault.FromError(err).Code)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.wantUntil, request.FormatInstant(asked.Until))
			assert.Equal(t, civil.FromTime(asked.From).AddDays(-40), asked.Days.From)
			assert.Equal(t, civil.FromTime(asked.Until).AddDays(93), asked.Days.To)
		})
	}
}

// Changes that were committed while the clock was ahead have later times than now. They are
// returned, and count as made now for limits.
func TestBetweenWhenTheClockWasAhead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	settled := now.AddDate(0, 0, 60)
	for name, c := range map[string]struct {
		from, wantCode string
		wantFirst      string
	}{
		"a time of the clock":     {"2026-02-28T00:00:00", "", "2026-01-19"},
		"the end of a response":   {"2026-04-30T11:59:59.999999", "", "2026-01-20"},
		"more than 40 days":       {"2026-01-01T00:00:00", "WFP-90001", ""},
		"later than what settled": {"2026-04-30T12:00:01", "WFS-111203", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, err := request.ParseChanges(&schedulingv1.MultiReadScheduleChangesRequest{Where: &schedulingv1.ScheduleChangesWhere{
				Employees: &schedulingv1.EmployeeScheduleChanges{StartDateTime: c.from, EndDateTime: "2026-03-01T11:59:59"},
			}})
			require.NoError(t, err)
			err = asked.Between(settled, now, -1)
			if c.wantCode != "" {
				require.Error(t, err)
				assert.Equal(t, c.wantCode, fault.FromError(err).Code)
				return
			}
			require.NoError(t, err)
			assert.True(t, asked.Until.Equal(settled))
			assert.Equal(t, c.wantFirst, asked.Days.From.String())
			assert.Equal(t, "2026-06-02", asked.Days.To.String())
		})
	}
}

func TestSpanOfChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ start, end, want string }{
		"days":                          {"2026-03-01", "2026-03-02", "2026-03-01..2026-03-03"},
		"an end at midnight":            {"2026-03-01T00:00:00", "2026-03-02T00:00:00", "2026-03-01..2026-03-02"},
		"what is touched":               {"2026-03-01T23:59:59", "2026-03-02T00:00:01", "2026-03-01..2026-03-03"},
		"before the product's calendar": {"0001-01-01", "1900-01-01", "1900-01-01..1900-01-02"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, err := request.ParseChanges(&schedulingv1.MultiReadScheduleChangesRequest{Where: &schedulingv1.ScheduleChangesWhere{
				Employees: &schedulingv1.EmployeeScheduleChanges{
					StartDateTime: "2026-03-01T00:00:00", EntityFilterSpan: &schedulingv1.EntityFilterSpan{Start: c.start, End: c.end},
				},
			}})
			require.NoError(t, err)
			assert.Equal(t, c.want, asked.Days.String())
		})
	}
}
