package patternassignment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// The propagation that is undone, and a later one.
const undone, after = 10, 11

func newVersion(id int64, propagationID int64, from, to civil.Date) assignment {
	return assignment{
		id: id, lineage: id, version: 1, ownerID: 5, ownerName: "Crew", days: civil.Range{From: from, To: to},
		patternID: 7, dayCount: 7, entriesPerDay: 1, seq: id, propagationID: propagationID,
	}
}

// A replaced assignment gets its former content as a new version; a new one is removed, and a removed
// one comes back.
func TestDecideUndo(t *testing.T) {
	t.Parallel()
	former, replaced := newVersion(1, 3, 0, 100), newVersion(1, undone, 0, 50)
	replaced.version = 2
	added, removed := newVersion(2, undone, 50, 100), newVersion(3, 3, 0, 10)
	d := Terms().decideUndo(undone, []assignment{former, replaced, added, removed}, []assignment{replaced, added},
		map[int64]head{1: {version: 2}, 2: {version: 1}, 3: {version: 4, endedBy: undone}})
	require.Empty(t, d.later)
	require.Len(t, d.edits, 3)
	assert.Equal(t, edit{before: added}, d.edits[0], "what was only made makes room first")
	restored := former
	restored.version = 2
	assert.Equal(t, edit{before: replaced, after: []assignment{restored}}, d.edits[1])
	returned := removed
	returned.version = 4
	assert.Equal(t, edit{after: []assignment{returned}}, d.edits[2])
}

// The parts of a divided assignment are undone together or not at all.
func TestDividedAssignmentsAreUndoneTogether(t *testing.T) {
	t.Parallel()
	former, first, second := newVersion(1, 3, 0, 100), newVersion(1, undone, 0, 50), newVersion(2, undone, 50, 100)
	second.lineage = 1
	changed := second
	changed.propagationID, changed.days.To = after, 80
	d := Terms().decideUndo(undone, []assignment{former, first, second}, []assignment{first, changed},
		map[int64]head{1: {version: 2}, 2: {version: 2}})
	assert.Empty(t, d.edits)
	require.Len(t, d.later, 1)
	assert.Equal(t, laterChanged, d.later[0].GetReason())
	assert.EqualValues(t, after, d.later[0].GetLaterPropagationId())
	assert.Equal(t, `The assignment 2 of "Crew" was changed later.`, d.later[0].GetMessage())

	d = Terms().decideUndo(undone, []assignment{former, first, second}, []assignment{first},
		map[int64]head{1: {version: 2}, 2: {version: 1, endedBy: after}})
	assert.Empty(t, d.edits)
	assert.Equal(t, laterRemoved, d.later[0].GetReason())
}

// A later change back to the same content is no later decision.
func TestTheContentDecides(t *testing.T) {
	t.Parallel()
	former, made := newVersion(1, 3, 0, 100), newVersion(1, undone, 0, 50)
	now := made
	now.version, now.propagationID = 5, after
	d := Terms().decideUndo(undone, []assignment{former, made}, []assignment{now}, map[int64]head{1: {version: 5}})
	assert.Empty(t, d.later)
	require.Len(t, d.edits, 1)
	assert.EqualValues(t, 5, d.edits[0].after[0].version)
}

// Later overrides are named, but do not keep what is below them.
func TestOverridesAboveAreNamed(t *testing.T) {
	t.Parallel()
	made := newVersion(1, undone, 0, 50)
	override, earlier, elsewhere := newVersion(2, after, 40, 60), newVersion(3, 3, 40, 60), newVersion(4, after, 50, 60)
	override.override, earlier.override, elsewhere.override = true, true, true
	d := Terms().decideUndo(undone, []assignment{made}, []assignment{made, override, earlier, elsewhere}, map[int64]head{1: {version: 1}})
	require.Len(t, d.edits, 1)
	require.Len(t, d.later, 1)
	assert.Equal(t, laterOverridden, d.later[0].GetReason())
	assert.EqualValues(t, 2, d.later[0].GetLaterAssignmentId())
}

// An assignment does not return to days that later ones have filled.
func TestFullDaysKeepAnAssignmentAway(t *testing.T) {
	t.Parallel()
	removed := newVersion(1, 3, 0, 50)
	var now []assignment
	for id := int64(2); id <= 9; id++ {
		now = append(now, newVersion(id, after, 0, 50))
	}
	d := Terms().decideUndo(undone, []assignment{removed}, now, map[int64]head{1: {version: 1, endedBy: undone}})
	assert.Empty(t, d.edits)
	require.Len(t, d.later, 1)
	assert.Equal(t, laterFull, d.later[0].GetReason())
}
