package historytest

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// asked is the request of all reads of this file.
var asked = request.Query{Selected: request.SelectShifts | request.SelectDayLocks, Days: civil.Range{From: 19_995, To: 20_015}}

func (w *fixture) persons() []window.Person {
	zone, err := w.reader.Zones.Get("UTC")
	require.NoError(w.t, err)
	list := make([]projection.Employee, len(employees))
	for i, id := range employees {
		list[i] = projection.Employee{ID: id, PersonNumber: "P", Zone: zone}
	}
	return window.NewPersons(list, asked.Days)
}

// shownNow reads the schedules of all employees.
func (w *fixture) shownNow() []byte {
	rows, err := w.reader.Rows(w.Ctx, &asked, employees, false)
	require.NoError(w.t, err)
	shown, err := w.reader.Window(w.Ctx, &asked, w.persons(), rows)
	require.NoError(w.t, err)
	fields, err := encoding.Encode(w.Ctx, &asked, shown)
	require.NoError(w.t, err)
	return fields
}

// shownAt reads them as of an instant.
func (w *fixture) shownAt(at time.Time) []byte {
	shown, err := w.reader.ReadAt(w.Ctx, &asked, w.persons(), at)
	require.NoError(w.t, err)
	fields, err := encoding.Encode(w.Ctx, &asked, shown)
	require.NoError(w.t, err)
	return fields
}

// isApplied reports whether no propagation is open.
func (w *fixture) isApplied() bool {
	var open bool
	require.NoError(w.t, w.Pool.QueryRow(w.Ctx, "SELECT EXISTS (SELECT FROM propagation WHERE state <> 'FINISHED')").Scan(&open))
	return !open
}

// Reads as of an instant show the entries that reads showed then, also long after: generated,
// entered, hidden, deleted and moved shifts, and locked days.
func TestReadsAsOfAnInstantShowWhatWasShownThen(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, id := range employees {
		require.NoError(t, w.assign(id, 20_000, w.patterns[0]))
	}
	type seen struct {
		at     time.Time
		fields []byte
	}
	var all []seen
	distinct := map[string]bool{}
	for range 80 {
		// What collides is refused.
		if err := w.change(random); err != nil {
			require.Less(t, fault.FromError(err).Status, 500, "%v", err)
		}
		require.Eventually(t, w.isApplied, time.Minute, 5*time.Millisecond, "not applied")
		now := w.shownNow()
		// A change is settled shortly after it is seen: its lock is given back after the commit.
		var at time.Time
		for deadline := time.Now().Add(20 * time.Second); ; {
			var err error
			at, err = w.reader.SettledTime(w.Ctx)
			require.NoError(t, err)
			then := w.shownAt(at)
			if bytes.Equal(now, then) {
				break
			}
			require.True(t, time.Now().Before(deadline), "as of %s: %x, now: %x", at, then, now)
		}
		all, distinct[string(now)] = append(all, seen{at, now}), true
	}
	t.Log("compared:", len(all), "different:", len(distinct))
	assert.Greater(t, len(distinct), 10)
	for _, s := range all {
		require.Equal(t, s.fields, w.shownAt(s.at), "as of %s, later", s.at)
	}
}
