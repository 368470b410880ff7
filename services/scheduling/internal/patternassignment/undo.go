package patternassignment

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// The reasons why a later decision builds on a change.
const (
	laterChanged    = "CHANGED"
	laterRemoved    = "REMOVED"
	laterOverridden = "OVERRIDDEN"
	laterFull       = "FULL"
)

// UndoDecision is an undo that is not stored. A preview decides in the same way as the undo itself.
type UndoDecision struct {
	// now are the current assignments of the owners.
	now []assignment
	// edits restore the versions that the change replaced. Restored assignments keep their ids.
	edits []edit
	// later are the decisions that build on the change. The undo leaves assignments with other
	// content as they are.
	later []*schedulingv1.LaterDecision
}

// head is the last version of an assignment.
type head struct {
	version int32
	// endedBy is the propagation that ended it; 0 if it is current or unknown.
	endedBy int64
}

// change is the effect of a propagation on one assignment.
type change struct {
	id int64
	// ended is the version that the propagation ended, and made the one that it made. One of them
	// may be nil.
	ended, made *assignment
}

// decideUndo computes an undo without a database. versions are those that the propagation made or
// ended, now are the current assignments of their owners, and heads the last versions.
func (k *Kind) decideUndo(propagationID int64, versions, now []assignment, heads map[int64]head) *UndoDecision {
	d := &UndoDecision{now: now}
	current := make(map[int64]*assignment, len(now))
	for i := range now {
		current[now[i].id] = &now[i]
	}
	changes := collectChanges(propagationID, versions)
	changed := make(map[int64]bool, len(changes))
	for _, c := range changes {
		changed[c.id] = true
	}
	layers := k.layers(now, nil)
	for _, group := range groupByLineage(changes) {
		var later []*schedulingv1.LaterDecision
		var edits []edit
		for _, c := range group {
			if found := c.findLater(current[c.id], heads[c.id]); found != nil {
				later = append(later, found)
			}
			if e := c.revert(current[c.id], heads[c.id]); e != nil {
				edits = append(edits, *e)
			}
		}
		if len(later) == 0 && len(edits) > 0 && layers.revert(edits) != nil {
			a := group[0].any()
			later = append(later, newLater(a, laterFull, 0, fmt.Sprintf(
				"Later assignments take the place of the assignment %d of %s: the %s would have too many schedule patterns on one day. End or remove others first.",
				a.id, a.quotedOwner(), k.owner)))
		}
		if len(later) == 0 {
			later = findOverrides(propagationID, edits, now, changed)
			d.edits = append(d.edits, edits...)
		}
		d.later = append(d.later, later...)
	}
	return d
}

// collectChanges returns the changes of a propagation by assignment.
func collectChanges(propagationID int64, versions []assignment) []change {
	var list []change
	for i := range versions {
		v := &versions[i]
		if n := len(list); n == 0 || list[n-1].id != v.id {
			list = append(list, change{id: v.id})
		}
		if c := &list[len(list)-1]; v.propagationID == propagationID {
			c.made = v
		} else {
			c.ended = v
		}
	}
	return list
}

// groupByLineage groups the changes that divided one assignment: undoing only some of them would let
// its parts overlap. Groups that only made assignments come first, so that their undo makes room for
// the others.
func groupByLineage(changes []change) [][]change {
	var lineages []int64
	groups := map[int64][]change{}
	for _, c := range changes {
		lineage := c.any().lineage
		if groups[lineage] == nil {
			lineages = append(lineages, lineage)
		}
		groups[lineage] = append(groups[lineage], c)
	}
	var made, others [][]change
	for _, lineage := range lineages {
		group := groups[lineage]
		if slices.ContainsFunc(group, func(c change) bool { return c.ended != nil }) {
			others = append(others, group)
		} else {
			made = append(made, group)
		}
	}
	return append(made, others...)
}

// any returns the newer version of the change.
func (c *change) any() *assignment {
	if c.made != nil {
		return c.made
	}
	return c.ended
}

// findLater returns the later decision about the assignment itself, or nil.
func (c *change) findLater(now *assignment, last head) *schedulingv1.LaterDecision {
	a := c.any()
	switch {
	case c.made != nil && now == nil:
		return newLater(a, laterRemoved, last.endedBy, fmt.Sprintf("The assignment %d of %s was removed later.", a.id, a.quotedOwner()))
	case c.made != nil && !now.sameContent(c.made), c.made == nil && now != nil && !now.sameContent(c.ended):
		return newLater(a, laterChanged, now.propagationID, fmt.Sprintf("The assignment %d of %s was changed later.", a.id, a.quotedOwner()))
	}
	return nil
}

// revert returns the edit that restores the assignment, or nil if it is as before.
func (c *change) revert(now *assignment, last head) *edit {
	if c.made == nil && now != nil {
		return nil
	}
	e := &edit{}
	if now != nil {
		e.before = *now
	}
	if c.ended != nil {
		restored := *c.ended
		restored.version = last.version
		e.after = []assignment{restored}
	}
	return e
}

// sameContent reports whether two versions of an assignment generate the same, at the same place.
func (a *assignment) sameContent(b *assignment) bool {
	return a.generatesLike(b) && a.days == b.days && a.lane == b.lane
}

// revert replaces assignments of one owner by the edits of an undo. It returns an error, and changes
// nothing, if some days have no room for a restored assignment.
func (l *layers) revert(edits []edit) error {
	affected := edits[0].affectedDays()
	before := l.byOwner[affected.ownerID]
	l.byOwner[affected.ownerID] = slices.DeleteFunc(slices.Clone(before), func(a span.Assignment) bool {
		return slices.ContainsFunc(edits, func(e edit) bool { return e.before.id == a.ID })
	})
	for i := range edits {
		days := edits[i].affectedDays().days
		affected.days = civil.Range{From: min(affected.days.From, days.From), To: max(affected.days.To, days.To)}
		for k := range edits[i].after {
			l.addLayer(&edits[i].after[k], nil) // Its pattern is stored.
		}
	}
	err := span.CheckDepth(l.byOwner[affected.ownerID], affected.days)
	if err != nil {
		l.byOwner[affected.ownerID] = before
	}
	return err
}

// findOverrides returns the later versions of overrides above an assignment of the edits. The undo
// changes the assignment under them.
func findOverrides(propagationID int64, edits []edit, now []assignment, changed map[int64]bool) []*schedulingv1.LaterDecision {
	var found []*schedulingv1.LaterDecision
	for i := range now {
		o := &now[i]
		if !o.override || o.propagationID <= propagationID || changed[o.id] {
			continue
		}
		below := firstBelow(o, edits)
		if below == nil {
			continue
		}
		later := newLater(below, laterOverridden, o.propagationID, fmt.Sprintf(
			"The assignment %d of %s was hidden later by the assignment %d, which has override.", below.id, below.quotedOwner(), o.id))
		later.LaterAssignmentId = proto.Int64(o.id)
		found = append(found, later)
	}
	return found
}

// firstBelow returns the first edited assignment that is below another one on some of its days, or
// nil.
func firstBelow(o *assignment, edits []edit) *assignment {
	for i := range edits {
		below, affected := &edits[i].before, edits[i].affectedDays()
		if len(edits[i].after) > 0 {
			below = &edits[i].after[0]
		}
		if affected.ownerID == o.ownerID && o.above(below) && affected.days.Overlaps(o.days) {
			return below
		}
	}
	return nil
}

func newLater(a *assignment, reason string, propagationID int64, message string) *schedulingv1.LaterDecision {
	later := &schedulingv1.LaterDecision{
		Reason: reason, AssignmentId: proto.Int64(a.id), Message: message,
		Owner: &commonv1.Ref{Id: proto.Int64(a.ownerID), Qualifier: proto.String(a.ownerName)},
	}
	if propagationID != 0 {
		later.LaterPropagationId = proto.Int64(propagationID)
	}
	return later
}

// quotedOwner returns the name of the owner for messages.
func (a *assignment) quotedOwner() string { return fmt.Sprintf("%.80q", a.ownerName) }
