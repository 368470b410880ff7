package civil_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
)

func zone(t testing.TB, name string) *civil.Zone {
	t.Helper()
	z, err := civil.LoadZone(name)
	require.NoError(t, err)
	return z
}

// Wall-clock times that a clock change skips, and the times that clocks show instead.
func TestSkippedTimesMoveForward(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, local, moved, instant string }{
		{"Europe/Zurich", "2026-03-29T02:30:00", "2026-03-29T03:30:00", "2026-03-29T01:30:00Z"},
		{"Europe/Zurich", "2026-03-29T02:00:00", "2026-03-29T03:00:00", "2026-03-29T01:00:00Z"},
		{"Europe/London", "2026-03-29T01:15:00", "2026-03-29T02:15:00", "2026-03-29T01:15:00Z"},
		{"Europe/Dublin", "2026-03-29T01:59:59", "2026-03-29T02:59:59", "2026-03-29T01:59:59Z"},
		{"Europe/Chisinau", "2026-03-29T03:10:00", "2026-03-29T04:10:00", "2026-03-29T01:10:00Z"},
		{"America/New_York", "2026-03-08T02:30:00", "2026-03-08T03:30:00", "2026-03-08T07:30:00Z"},
		{"America/Los_Angeles", "2026-03-08T02:00:00", "2026-03-08T03:00:00", "2026-03-08T10:00:00Z"},
		{"America/St_Johns", "2026-03-08T02:30:00", "2026-03-08T03:30:00", "2026-03-08T06:00:00Z"},
		{"America/Havana", "2026-03-08T00:00:00", "2026-03-08T01:00:00", "2026-03-08T05:00:00Z"},
		{"America/Santiago", "2026-09-06T00:00:00", "2026-09-06T01:00:00", "2026-09-06T04:00:00Z"},
		{"America/Santiago", "2026-09-06T00:45:00", "2026-09-06T01:45:00", "2026-09-06T04:45:00Z"},
		{"America/Asuncion", "2023-10-01T00:30:00", "2023-10-01T01:30:00", "2023-10-01T04:30:00Z"},
		{"America/Sao_Paulo", "2018-11-04T00:00:00", "2018-11-04T01:00:00", "2018-11-04T03:00:00Z"},
		{"America/Nuuk", "2026-03-28T23:30:00", "2026-03-29T00:30:00", "2026-03-29T01:30:00Z"},
		{"Africa/Cairo", "2026-04-24T00:00:00", "2026-04-24T01:00:00", "2026-04-23T22:00:00Z"},
		{"Africa/Casablanca", "2026-03-22T02:30:00", "2026-03-22T03:30:00", "2026-03-22T02:30:00Z"},
		{"Asia/Beirut", "2026-03-29T00:00:00", "2026-03-29T01:00:00", "2026-03-28T22:00:00Z"},
		{"Asia/Jerusalem", "2026-03-27T02:30:00", "2026-03-27T03:30:00", "2026-03-27T00:30:00Z"},
		{"Asia/Tehran", "2022-03-22T00:30:00", "2022-03-22T01:30:00", "2022-03-21T21:00:00Z"},
		{"Australia/Sydney", "2026-10-04T02:30:00", "2026-10-04T03:30:00", "2026-10-03T16:30:00Z"},
		{"Australia/Lord_Howe", "2026-10-04T02:15:00", "2026-10-04T02:45:00", "2026-10-03T15:45:00Z"},
		{"Pacific/Auckland", "2026-09-27T02:30:00", "2026-09-27T03:30:00", "2026-09-26T14:30:00Z"},
		{"Pacific/Chatham", "2026-09-27T03:00:00", "2026-09-27T04:00:00", "2026-09-26T14:15:00Z"},
		{"Antarctica/Troll", "2026-03-29T01:30:00", "2026-03-29T03:30:00", "2026-03-29T01:30:00Z"},
		{"Pacific/Apia", "2011-12-30T12:00:00", "2011-12-31T12:00:00", "2011-12-30T22:00:00Z"},
	} {
		t.Run(c.zone, func(t *testing.T) {
			z := zone(t, c.zone)
			local := at(t, c.local)
			assert.Equal(t, c.moved, z.Adjust(local).String(), "%s %s", c.zone, c.local)
			assert.Equal(t, c.instant, z.Resolve(local).UTC().Format(time.RFC3339), "%s %s", c.zone, c.local)
			assert.Equal(t, c.moved, z.At(z.Resolve(local)).String(), "%s %s", c.zone, c.local)
			before := local.Date.At(local.Seconds - 25*3600)
			assert.Equal(t, before, z.Adjust(before), "%s: a day and an hour earlier nothing is skipped", c.zone)
		})
	}
}

func TestSkippedDays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, day string
		want      bool
	}{
		{"Pacific/Apia", "2011-12-29", false},
		{"Pacific/Apia", "2011-12-30", true},
		{"Pacific/Apia", "2011-12-31", false},
		{"Pacific/Fakaofo", "2011-12-30", true},
		{"Pacific/Kwajalein", "1993-08-20", false},
		{"Pacific/Kwajalein", "1993-08-21", true},
		{"Pacific/Kwajalein", "1993-08-22", false},
		{"Pacific/Kiritimati", "1994-12-31", true},
		{"Pacific/Kiritimati", "1995-01-01", false},
		{"Pacific/Enderbury", "1994-12-31", true},
		{"America/Sao_Paulo", "2018-11-04", false}, // 00:00 to 01:00 is skipped.
		{"America/Juneau", "1867-10-18", false},    // This day came twice.
		{"UTC", "2011-12-30", false},
	} {
		t.Run(c.zone+" "+c.day, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, zone(t, c.zone).Skips(at(t, c.day+"T00:00:00").Date))
		})
	}
}

func TestAfterSkip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, local string
		want        bool
	}{
		{"Europe/Berlin", "2026-03-29T01:59:59", false},
		{"Europe/Berlin", "2026-03-29T02:30:00", false}, // no clock shows it
		{"Europe/Berlin", "2026-03-29T03:00:00", true},
		{"Europe/Berlin", "2026-03-29T03:59:59", true},
		{"Europe/Berlin", "2026-03-29T04:00:00", false},
		{"Europe/Berlin", "2026-03-28T03:30:00", false},
		{"Europe/Berlin", "2026-10-25T02:30:00", false}, // is repeated
		{"Europe/Berlin", "2026-10-25T03:30:00", false},
		{"Australia/Lord_Howe", "2026-10-04T02:30:00", true}, // half an hour
		{"Australia/Lord_Howe", "2026-10-04T03:00:00", false},
		{"America/Sao_Paulo", "2018-11-04T00:30:00", false},
		{"America/Sao_Paulo", "2018-11-04T01:00:00", true},
		{"UTC", "2026-03-29T03:30:00", false},
	} {
		t.Run(c.zone+" "+c.local, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, zone(t, c.zone).AfterSkip(at(t, c.local)))
		})
	}
}

// Wall-clock times that happen twice mean the first time.
func TestRepeatedTimesAreTheFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, local, instant string }{
		{"Europe/Zurich", "2026-10-25T02:30:00", "2026-10-25T00:30:00Z"},
		{"Europe/Zurich", "2026-10-25T03:00:00", "2026-10-25T02:00:00Z"},
		{"Europe/London", "2026-10-25T01:00:00", "2026-10-25T00:00:00Z"},
		{"America/New_York", "2026-11-01T01:59:59", "2026-11-01T05:59:59Z"},
		{"America/Havana", "2026-11-01T00:30:00", "2026-11-01T04:30:00Z"},
		{"America/Santiago", "2026-04-04T23:30:00", "2026-04-05T02:30:00Z"},
		{"Africa/Cairo", "2026-10-29T23:30:00", "2026-10-29T20:30:00Z"},
		{"Australia/Lord_Howe", "2026-04-05T01:45:00", "2026-04-04T14:45:00Z"},
		{"Pacific/Auckland", "2026-04-05T02:30:00", "2026-04-04T13:30:00Z"},
		{"Africa/Casablanca", "2026-02-15T02:30:00", "2026-02-15T01:30:00Z"},
	} {
		t.Run(c.zone, func(t *testing.T) {
			local := at(t, c.local)
			z := zone(t, c.zone)
			assert.Equal(t, c.instant, z.Resolve(local).UTC().Format(time.RFC3339), "%s %s", c.zone, c.local)
			assert.Equal(t, local, z.Adjust(local), "%s %s", c.zone, c.local)
		})
	}
}

func TestElapsed(t *testing.T) {
	t.Parallel()
	const hour = 3600
	for _, c := range []struct {
		zone, day  string
		start, end int32
		want       int64
	}{
		{"Europe/Zurich", "2026-03-28", 22 * hour, 30 * hour, 7 * hour},
		{"Europe/Zurich", "2026-03-27", 22 * hour, 30 * hour, 8 * hour},
		{"Europe/Zurich", "2026-10-24", 22 * hour, 30 * hour, 9 * hour},
		{"America/New_York", "2026-03-07", 22 * hour, 30 * hour, 7 * hour},
		{"America/New_York", "2026-10-31", 22 * hour, 30 * hour, 9 * hour},
		{"Australia/Lord_Howe", "2026-10-03", 22 * hour, 30 * hour, 7*hour + hour/2},
		{"Australia/Lord_Howe", "2026-04-04", 22 * hour, 30 * hour, 8*hour + hour/2},
		{"America/Santiago", "2026-09-06", 0, 24 * hour, 23 * hour},
		{"America/Santiago", "2026-09-05", 22 * hour, 30 * hour, 7 * hour},
		{"America/Santiago", "2026-04-04", 22 * hour, 30 * hour, 9 * hour},
		{"Africa/Cairo", "2026-04-24", 0, 24 * hour, 23 * hour},
		{"Africa/Cairo", "2026-10-29", 0, 24 * hour, 25 * hour},
		{"Antarctica/Troll", "2026-03-28", 22 * hour, 30 * hour, 6 * hour},
		{"Europe/Zurich", "2026-03-29", 2 * hour, 2*hour + hour/2, hour / 2}, // moves as a whole
		{"Europe/Zurich", "2026-03-29", 2*hour + hour/2, 3 * hour, 0},        // nothing of it exists
		{"Europe/Zurich", "2024-02-28", 22 * hour, 30 * hour, 8 * hour},      // into the leap day
	} {
		t.Run(c.zone, func(t *testing.T) {
			d := day(t, c.day)
			assert.Equal(t, c.want, zone(t, c.zone).Elapsed(d.At(c.start), d.At(c.end)), "%s %s", c.zone, c.day)
		})
	}
	d := day(t, "2026-06-01")
	assert.Equal(t, int64(-hour), zone(t, "Europe/Zurich").Elapsed(d.At(10*hour), d.At(9*hour)))
}

// Random wall-clock times, half of them near a clock change, against a search over all instants around.
func TestResolveAgainstSearch(t *testing.T) {
	t.Parallel()
	names := []string{
		"Europe/Zurich", "Europe/London", "Europe/Dublin", "Europe/Istanbul", "Europe/Moscow", "America/New_York", "America/Sao_Paulo",
		"America/Santiago", "America/St_Johns", "America/Caracas", "America/Havana", "Africa/Cairo", "Africa/Casablanca", "Asia/Kolkata",
		"Asia/Tehran", "Asia/Pyongyang", "Asia/Gaza", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "Antarctica/Troll", "UTC",
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			location, err := tzdb.Load(name)
			require.NoError(t, err)
			z := zone(t, name)
			cursor := z.Cursor()
			random := rand.New(rand.NewPCG(7, uint64(len(name))))
			changes := clockChanges(location)
			for i := range 2500 {
				local := int64(civil.Beginning)*86400 + random.Int64N(int64(civil.Forever-civil.Beginning)*86400)
				if i%2 == 0 && len(changes) > 0 {
					local = changes[random.IntN(len(changes))] + random.Int64N(60*3600) - 30*3600
				}
				when := civil.Date(local / 86400).At(int32(local % 86400))
				want := search(location, local)
				require.Equal(t, want, z.Unix(when), "%v", when)
				require.Equal(t, want, cursor.Unix(when), "%v by cursor", when)
				require.Equal(t, z.At(time.Unix(want, 0)), z.Adjust(when).Normal(), "%v", when)
			}
		})
	}
}

// search tries every offset that the location has around local, and returns the first instant at which a wall
// there shows local. When there is none, local is skipped, and the offset before the gap counts.
func search(location *time.Location, local int64) int64 {
	offset := func(instant int64) int64 {
		_, seconds := time.Unix(instant, 0).In(location).Zone()
		return int64(seconds)
	}
	var found []int64
	widest := offset(local)
	for instant := local - 27*3600; instant <= local+27*3600; instant += 3 * 3600 {
		o := offset(instant)
		widest = max(widest, o)
		if offset(local-o) == o {
			found = append(found, local-o)
		}
	}
	if len(found) > 0 {
		return slices.Min(found)
	}
	return local - offset(local-widest)
}

// clockChanges returns the UTC seconds of the offset changes in the days from 1901 to 2101.
func clockChanges(location *time.Location) (list []int64) {
	last := civil.Of(2101, 1, 1).Time()
	_, before := civil.Of(1901, 1, 1).Time().In(location).Zone()
	for t := civil.Of(1901, 1, 1).Time(); t.Before(last); t = t.AddDate(0, 0, 1) {
		if _, now := t.In(location).Zone(); now != before {
			list, before = append(list, t.Unix()), now
		}
	}
	return list
}

// Both ends of an interval near clock changes, some of them at the change itself, one second before or after it, in either
// order. One cursor takes them all, so that it stands before, in and behind the change when it is asked.
func TestIntervalIsTwoInstants(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Zurich", "America/Santiago", "Africa/Casablanca", "Australia/Lord_Howe", "Pacific/Apia", "UTC"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			location, err := tzdb.Load(name)
			require.NoError(t, err)
			z := zone(t, name)
			cursor := z.Cursor()
			for _, when := range aroundChanges(location) {
				for _, length := range []int32{-26 * 3600, -1, 0, 1, 3599, 3600, 3601, 7 * 3600, 48 * 3600} {
					start, end := when.Seconds, when.Seconds+length
					from, until := cursor.Interval(when.Date, start, end)
					require.Equal(t, z.Unix(when.Date.At(start)), from, "%v and %d seconds", when, length)
					require.Equal(t, z.Unix(when.Date.At(end)), until, "%v and %d seconds", when, length)
				}
			}
		})
	}
}

// aroundChanges returns the wall-clock times at which the offset changes, before and after the change, and those a
// second and an hour next to them; for a location without changes, one midnight.
func aroundChanges(location *time.Location) (list []civil.DateTime) {
	list = append(list, civil.Of(2026, 1, 1).At(0))
	for t, last := civil.Of(2000, 1, 1).Time().In(location), civil.Of(2040, 1, 1).Time(); t.Before(last); {
		_, change := t.ZoneBounds()
		if change.IsZero() {
			break
		}
		if t = t.AddDate(0, 0, 1); change.After(t) {
			t = change
		}
		for _, instant := range []time.Time{change.Add(-time.Second), change} {
			_, offset := instant.In(location).Zone()
			local := instant.Unix() + int64(offset)
			for _, near := range []int64{-3600, -1, 0, 1, 3600} {
				list = append(list, civil.Date((local+near)/civil.SecondsPerDay).At(int32((local+near)%civil.SecondsPerDay)))
			}
		}
	}
	return list
}

func TestLoadZoneRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Local", "Mars/Olympus", "../etc/passwd", "Europe//Zurich", "./UTC", "Europe/"} {
		t.Run(name, func(t *testing.T) {
			_, err := civil.LoadZone(name)
			assert.ErrorIs(t, err, civil.ErrZone, "%q", name)
		})
	}
}

func TestZonesKeepsOneOfEach(t *testing.T) {
	t.Parallel()
	var zones civil.Zones
	var group sync.WaitGroup
	got := make([]*civil.Zone, 8)
	for i := range got {
		group.Go(func() { got[i], _ = zones.Get("Europe/Zurich") })
	}
	group.Wait()
	for _, z := range got {
		assert.Same(t, got[0], z)
	}
	assert.Equal(t, "Europe/Zurich", got[0].Name())
	_, err := zones.Get("Europe/Zurisch")
	assert.ErrorIs(t, err, civil.ErrZone)
}

func BenchmarkNewZone(b *testing.B) {
	location, err := tzdb.Load("Europe/Zurich")
	require.NoError(b, err)
	for range b.N {
		civil.NewZone(location)
	}
}

func BenchmarkZoneUnix(b *testing.B) {
	z := zone(b, "Europe/Zurich")
	b.Run("search", func(b *testing.B) {
		for i := range b.N {
			z.Unix(civil.Date(20000 + i%3650).At(79200))
		}
	})
	b.Run("cursor", func(b *testing.B) {
		cursor := z.Cursor()
		for i := range b.N {
			cursor.Unix(civil.Date(20000 + i%3650).At(79200))
		}
	})
}
