package rotation_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

const hour = 3600

func date(t testing.TB, s string) civil.Date {
	t.Helper()
	d, err := civil.ParseDate(s)
	require.NoError(t, err)
	return d
}

func compile(t testing.TB, dayCount int32, items ...rotation.Item) *rotation.Pattern {
	t.Helper()
	p, err := rotation.New(dayCount, rotation.DefaultMaxDays, items)
	require.NoError(t, err)
	return p
}

func shift(day, start, end int32) rotation.Item {
	return rotation.Item{Day: day, Kind: rotation.Shift, StartSec: start * hour, EndSec: end * hour}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dayCount int32
		items    []rotation.Item
		want     error
		index    int // of the item at fault, -1 for none
	}{
		"no day":            {0, []rotation.Item{shift(1, 6, 14)}, rotation.ErrDayCount, -1},
		"negative":          {-7, []rotation.Item{shift(1, 6, 14)}, rotation.ErrDayCount, -1},
		"too long":          {365, []rotation.Item{shift(1, 6, 14)}, rotation.ErrDayCount, -1},
		"nothing in it":     {7, nil, rotation.ErrNoEntries, -1},
		"day 0":             {7, []rotation.Item{shift(0, 6, 14)}, rotation.ErrDay, 0},
		"day after the end": {7, []rotation.Item{shift(7, 6, 14), shift(8, 6, 14)}, rotation.ErrDay, 1},
		"17 on a day":       {7, slices.Repeat([]rotation.Item{shift(3, 6, 14)}, 17), rotation.ErrTooManyEntries, 16},
		"no kind":           {7, []rotation.Item{{Day: 1, EndSec: hour}}, rotation.ErrKind, 0},
		"unknown kind":      {7, []rotation.Item{{Day: 1, Kind: 5, EndSec: hour}}, rotation.ErrKind, 0},
		"ends at its start": {7, []rotation.Item{shift(1, 6, 6)}, rotation.ErrEnd, 0},
		"ends before":       {7, []rotation.Item{shift(1, 22, 6)}, rotation.ErrEnd, 0},
		"starts before":     {7, []rotation.Item{shift(1, -1, 6)}, rotation.ErrStart, 0},
		"starts a day late": {7, []rotation.Item{shift(1, 24, 30)}, rotation.ErrStart, 0},
		"longer than a week": {7, []rotation.Item{
			{Day: 1, Kind: rotation.Shift, EndSec: rotation.MaxEntrySeconds + 1},
		}, rotation.ErrEnd, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rotation.New(c.dayCount, rotation.DefaultMaxDays, c.items)
			require.ErrorIs(t, err, c.want)
			var item *rotation.ItemError
			if c.index >= 0 {
				require.ErrorAs(t, err, &item)
				assert.Equal(t, c.index, item.Index)
				assert.Equal(t, c.items[c.index].Day, item.Day)
			}
		})
	}
}

func TestPatternKeepsTheOrderOfItsItems(t *testing.T) {
	t.Parallel()
	items := []rotation.Item{
		{Day: 3, Kind: rotation.Shift, StartSec: 14 * hour, EndSec: 22 * hour, Template: 10},
		{Day: 1, Kind: rotation.PayCodeEdit, StartSec: 0, EndSec: 4 * hour, Template: 11},
		{Day: 3, Kind: rotation.Availability, StartSec: 0, EndSec: 24 * hour, Template: 12},
		{Day: 3, Kind: rotation.ScheduleTag, StartSec: 6 * hour, EndSec: 54 * hour, Template: 13},
	}
	p, err := rotation.New(364, rotation.DefaultMaxDays, items)
	require.NoError(t, err)
	assert.Equal(t, int32(364), p.DayCount())
	assert.Equal(t, int32(2), p.MaxReach())
	assert.Equal(t, []rotation.Entry{{StartSec: 0, EndSec: 4 * hour, Template: 11, Ordinal: 0, Kind: rotation.PayCodeEdit}}, p.Day(0))
	assert.Empty(t, p.Day(1))
	assert.Equal(t, []rotation.Entry{
		{StartSec: 14 * hour, EndSec: 22 * hour, Template: 10, Ordinal: 0, Kind: rotation.Shift},
		{StartSec: 0, EndSec: 24 * hour, Template: 12, Ordinal: 1, Kind: rotation.Availability},
		{StartSec: 6 * hour, EndSec: 54 * hour, Template: 13, Ordinal: 2, Kind: rotation.ScheduleTag},
	}, p.Day(2))
	assert.Empty(t, p.Day(-1))
	assert.Empty(t, p.Day(364))
	assert.Len(t, compile(t, 1, slices.Repeat([]rotation.Item{shift(1, 6, 14)}, 16)...).Day(0), 16)
	assert.Zero(t, compile(t, 1, shift(1, 6, 24)).MaxReach(), "ending at midnight reaches into no other day")
}

func TestPosition(t *testing.T) {
	t.Parallel()
	anchor := date(t, "2026-01-05")
	for _, c := range []struct {
		offset   int32
		date     string
		dayCount int32
		want     int32
	}{
		{0, "2026-01-05", 28, 0},
		{0, "2026-02-01", 28, 27},
		{0, "2026-02-02", 28, 0},
		{3, "2026-01-05", 28, 3},
		{-1, "2026-01-05", 28, 27},
		{0, "2026-01-04", 28, 27},
		{-57, "2026-01-05", 28, 27},
		{56, "2026-01-05", 28, 0},
		{0, "2026-01-05", 1, 0},
		{5, "2031-07-09", 1, 0},
		{0, "2028-03-01", 7, 2},
		{0, "1900-01-01", 7, 0},
		{1<<31 - 1, "3000-01-01", 364, 241},
	} {
		t.Run(c.date, func(t *testing.T) {
			got := rotation.Position(anchor, c.offset, date(t, c.date), c.dayCount)
			assert.Equal(t, c.want, got, "offset %d on %s of %d days", c.offset, c.date, c.dayCount)
		})
	}
	assert.Zero(t, rotation.Position(anchor, 5, anchor, 0))
	assert.Equal(t, int32(3), compile(t, 7, shift(1, 6, 14)).Position(anchor, 1, anchor+2))
}
