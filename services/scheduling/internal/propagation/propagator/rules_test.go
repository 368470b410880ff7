package propagator

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

func TestPropagationAppliesAnAssignment(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.term(6)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 3)...)
	w.members(5, "2026-02-01", "2026-03-01", 4)
	w.members(6, "2026-01-01", "3000-01-01", 9)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})

	before := w.get(id)
	assert.Equal(t, "ACCEPTED", before.GetState())
	assert.Equal(t, "PATTERN", before.GetCause())
	assert.Nil(t, before.EmployeesTotal, "not known yet")
	w.apply(id)

	assert.Equal(t, []string{"2026-01-05..3000-01-01 pattern 7 at 0"}, w.spans(1))
	assert.Equal(t, []string{"2026-02-01..2026-03-01 pattern 7 at 6"}, w.spans(4))
	assert.Empty(t, w.spans(9), "not on the term")
	after := w.get(id)
	assert.Equal(t, "FINISHED", after.GetState())
	assert.Equal(t, []int64{4, 4, 4}, []int64{after.GetEmployeesTotal(), after.GetEmployeesDone(), after.GetSpansWritten()})
	assert.NotEmpty(t, after.GetStartedAt())
	assert.NotEmpty(t, after.GetFinishedAt())
	assert.Empty(t, after.GetSkipped())
	w.requireVerified()

	changed := w.listChanges()
	require.Len(t, changed, 1)
	assert.Equal(t, ids(1, 4), changed[0].GetEmployeeIds())
	assert.Equal(t, []string{"2026-01-05", "2999-12-31"}, []string{changed[0].GetFrom(), changed[0].GetTo()})
	assert.Equal(t, id, changed[0].GetPropagationId())

	w.apply(w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}}))
	assert.Len(t, w.listChanges(), 1, "nothing has changed since")
	assert.Zero(t, w.count("SELECT count(*) FROM span_past"))
}

// listChanges returns the events about changed schedules that were written.
func (w *fixture) listChanges() []*schedulingv1.ScheduleChanged {
	w.t.Helper()
	rows, err := w.pool.Query(w.ctx, "SELECT payload FROM outbox WHERE event LIKE '%ScheduleChanged' ORDER BY id")
	require.NoError(w.t, err)
	defer rows.Close()
	var list []*schedulingv1.ScheduleChanged
	for rows.Next() {
		event := &schedulingv1.ScheduleChanged{}
		require.NoError(w.t, proto.Unmarshal(rows.RawValues()[0], event))
		list = append(list, event)
	}
	require.NoError(w.t, rows.Err())
	return list
}

func TestReplacedSpansArePast(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", 1)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	w.apply(w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}}))
	w.assign(assignment{id: 51, term: 5, from: "2026-06-01", pattern: 14, override: true})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.apply(id)
	assert.Equal(t, []string{
		"2026-01-05..2026-06-01 pattern 7 at 0", "2026-06-01..3000-01-01 pattern 14 at 0",
	}, w.spans(1))
	assert.Equal(t, 1, w.count(`SELECT count(*) FROM span_past WHERE pattern_id = 7 AND from_date = '2026-01-05'
		AND to_date = '3000-01-01' AND believed_from < believed_until`))
	assert.Equal(t, int64(2), w.get(id).GetSpansWritten())
	changed := w.listChanges()
	assert.Equal(t, "2026-06-01", changed[1].GetFrom(), "the days before have the same entries as before")
	w.requireVerified()
}

func TestLockedDaysStay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", 1, 2, 3)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05", to: "2026-07-01"})
	w.apply(w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}}))
	w.lock(1, "2026-02-01", "2026-02-08")
	w.lock(2, "2027-01-01", "2027-02-01") // free days, locked as such
	w.lock(3, "2030-01-01", "2030-02-01")
	w.assign(assignment{id: 51, term: 5, from: "2026-01-05", to: "2028-01-01", pattern: 14, override: true})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.apply(id)
	assert.Equal(t, []string{
		"2026-01-05..2026-02-01 pattern 14 at 0", "2026-02-01..2026-02-08 pattern 7 at 6",
		"2026-02-08..2028-01-01 pattern 14 at 6",
	}, w.spans(1))
	assert.Equal(t, []string{
		"2026-01-05..2027-01-01 pattern 14 at 0", "2027-02-01..2028-01-01 pattern 14 at 0",
	}, w.spans(2))
	skipped := w.get(id).GetSkipped()
	require.Len(t, skipped, 1)
	assert.Equal(t, "LOCKED_DAYS", skipped[0].GetReason())
	assert.Equal(t, int64(2), skipped[0].GetEmployees(), "nothing was to change on the locked days of the third")
	w.requireVerified()
}

func TestCutLooseEntriesAreCounted(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", 1, 2)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	w.apply(w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}}))
	for employee, day := range map[int64]string{1: "2026-03-02", 2: "2026-08-03"} {
		w.exec(`INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, hides_day, hides_employee_id, body)
			VALUES (1, $1, $1, 'SHIFT', $2, $2, $2, $1, '')`, employee, day)
	}
	w.assign(assignment{id: 51, term: 5, from: "2026-07-01", pattern: 14, override: true})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.apply(id)
	skipped := w.get(id).GetSkipped()
	require.Len(t, skipped, 1)
	assert.Equal(t, "CUT_LOOSE_ENTRIES", skipped[0].GetReason())
	assert.Equal(t, int64(1), skipped[0].GetEmployees(), "the other one's lies before the change")
}

// An employee who has left a term, or whose term no longer passes patterns on, loses its entries.
func TestEntriesThatAreNoLongerInheritedAreRemoved(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", 1, 2)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	w.assign(assignment{id: 60, employee: 2, from: "2026-01-05", pattern: 3, lane: 8})
	w.apply(w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}}))
	assert.Len(t, w.spans(2), 2)

	w.exec("DELETE FROM membership WHERE employee_id = 1")
	w.apply(w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}}))
	assert.Len(t, w.spans(1), 1, "nobody is looked for by their spans")
	w.apply(w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{1}}))
	assert.Empty(t, w.spans(1))

	w.exec("UPDATE employment_term SET allows_inheritance = false")
	w.apply(w.start(propagation.Request{Cause: propagation.CauseInheritance, TermIDs: []int64{5}}))
	assert.Equal(t, []string{"2026-01-05..3000-01-01 pattern 3 at 0"}, w.spans(2))
	w.requireVerified()
}

func TestAPropagationWithoutEmployees(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.apply(id)
	assert.Equal(t, "FINISHED", w.get(id).GetState())
	assert.Equal(t, int64(0), w.get(id).GetEmployeesTotal())
}

func TestPending(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", append(ids(1, 1000), ids(1500, 2000)...)...)
	accepted := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	other := w.start(propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{3}})
	same := w.start(propagation.Request{Cause: propagation.CauseInheritance, TermIDs: []int64{5}})
	pending := func() map[int64][]propagation.Open {
		found, err := propagation.Pending(w.ctx, w.pool, []int64{1, 3, 1200, 2000})
		require.NoError(t, err)
		return found
	}
	state := propagation.StateAccepted
	wanted := func(ids ...int64) (list []propagation.Open) {
		for _, id := range ids {
			cause := map[int64]propagation.Cause{accepted: propagation.CausePattern, other: propagation.CauseMembership, same: propagation.CauseInheritance}[id]
			list = append(list, propagation.Open{ID: id, Cause: cause, State: state})
		}
		return list
	}
	all := func() map[int64][]propagation.Open {
		return map[int64][]propagation.Open{1: wanted(accepted, same), 3: wanted(accepted, other, same), 2000: wanted(accepted, same)}
	}
	assert.Equal(t, all(), pending())

	p := w.propagator(Config{})
	w.plan(p)
	state = propagation.StateRunning
	assert.Equal(t, all(), pending())
	require.NoError(t, p.process(w.ctx, batchKey{accepted, 0}))
	assert.Equal(t, map[int64][]propagation.Open{2000: wanted(accepted, same)}, pending(), "the others are done, all changes at once")
	assert.Equal(t, propagation.StateFinished, w.state(other))
	require.NoError(t, p.process(w.ctx, batchKey{accepted, 1}))
	assert.Empty(t, pending())
}

func TestPropagationsOfOthersAreUnknown(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	for _, ctx := range []int64{testTenant, 2} {
		unknown := id
		if ctx == testTenant {
			unknown++
		}
		_, err := w.handler().GetPropagation(tenant.With(t.Context(), ctx), &schedulingv1.GetPropagationRequest{Id: unknown})
		assert.True(t, fault.HasStatus(err, 404) && fault.HasCode(err, fault.CodeNotFound), "%v", err)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	assert.Empty(t, splitBatches(nil))
	sparse := make([]int64, 0, 300)
	for i := range int64(300) {
		sparse = append(sparse, 5000*i)
	}
	for name, list := range map[string][]int64{"dense": ids(1, 10_000), "two": ids(1023, 1024), "sparse": sparse} {
		t.Run(name, func(t *testing.T) {
			batches := splitBatches(list)
			assert.Equal(t, list, slices.Concat(batches...), name)
			owner := map[int32]int{}
			for i, batch := range batches {
				assert.LessOrEqual(t, len(batch), employeelock.BucketSize, name)
				buckets := employeelock.Buckets(batch)
				assert.LessOrEqual(t, len(buckets), batchBuckets, name)
				for _, bucket := range buckets {
					_, shared := owner[bucket]
					assert.False(t, shared, "%s: bucket %d is in two batches", name, bucket)
					owner[bucket] = i
				}
			}
		})
	}
	assert.Len(t, splitBatches(ids(1, 10_000)), 10)
	assert.Len(t, splitBatches(ids(1020, 1030)), 1, "small parts of buckets share a batch")
}
