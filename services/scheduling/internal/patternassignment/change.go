package patternassignment

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// unnumbered is the offset of sequence numbers for new assignments, which come after all others.
const firstNewSeq = int64(1) << 62

// layers are the current assignments by owner.
type layers struct {
	kind    *Kind
	byOwner map[int64][]span.Assignment
	// stored has the ids of the assignments before the request.
	stored map[int64]bool
	// patterns has the ids of the patterns in the request; negative ones are not stored.
	patterns map[*patterndefinition.Definition]int64
	hired    map[int64]civil.Date
	next     int64
}

func (k *Kind) layers(list []assignment, hired map[int64]civil.Date) *layers {
	l := &layers{kind: k, hired: hired, byOwner: map[int64][]span.Assignment{}, stored: map[int64]bool{}, next: firstNewSeq}
	for i := range list {
		l.stored[list[i].id] = true
		l.addLayer(&list[i], nil)
	}
	return l
}

func (l *layers) addLayer(a *assignment, definition *patterndefinition.Definition) {
	layer := l.layer(a, definition)
	l.next = max(l.next, layer.Seq)
	l.byOwner[a.ownerID] = append(l.byOwner[a.ownerID], layer)
}

// layer returns an assignment as a layer. A new assignment is above all others. definition is its
// pattern if that has no id yet.
func (l *layers) layer(a *assignment, definition *patterndefinition.Definition) span.Assignment {
	layer := a.layer()
	if layer.PatternID == 0 {
		layer.PatternID = l.patterns[definition]
	}
	if layer.Seq == 0 {
		layer.Seq = l.next + 1
	}
	return layer
}

// add chooses the lane of a new assignment and adds it. It rejects an assignment if the days have
// no room for another one: the ids of entries limit the number of layers. Unless the creation allows
// duplicates, it also rejects an assignment that repeats another one.
func (l *layers) add(c *creation, a *assignment) error {
	path := c.path
	if err := l.checkHired(path, a.ownerID, a.days.From); err != nil {
		return err
	}
	before := l.byOwner[a.ownerID]
	var err error
	if added := l.layer(a, c.definition); !c.input.GetAllowDuplicate() {
		if err = l.checkDuplicate(path, before, &added, nil); err != nil {
			return err
		}
	}
	if a.lane, err = span.LaneFor(before, a.layer()); err == nil {
		l.addLayer(a, c.definition)
		err = span.CheckDepth(l.byOwner[a.ownerID], a.days)
	}
	if err != nil {
		l.byOwner[a.ownerID] = before
		return patterndefinition.Invalid(path, "covers days on which the %s already has too many schedule patterns", l.kind.owner).WithCause(err)
	}
	return nil
}

// checkHired rejects days before the owner's hire date.
func (l *layers) checkHired(path string, ownerID int64, from civil.Date) error {
	if hired, found := l.hired[ownerID]; found && from < hired {
		return fault.Newf(codeHired, http.StatusBadRequest, "%s.startDate must not be before %s, the hire date of the employee.", path, hired).
			WithMembers(path + ".startDate")
	}
	return nil
}

// change replaces an assignment by the parts of an edit. The parts keep their lane, so that entries
// keep their ids. It rejects an edit that leaves too many visible patterns on a day, because a part
// has more days or hides others on fewer days.
func (l *layers) change(e *edit) error {
	for i := range e.after {
		if from := e.after[i].days.From; from < e.before.days.From {
			if err := l.checkHired(l.kind.pattern, e.before.ownerID, from); err != nil {
				return err
			}
		}
	}
	before := l.byOwner[e.before.ownerID]
	others := slices.DeleteFunc(slices.Clone(before), func(a span.Assignment) bool { return a.ID == e.before.id })
	for i := range e.after {
		part := l.layer(&e.after[i], e.definition)
		if err := l.checkDuplicate(fmt.Sprintf("The %s %d", resourceName, e.before.id), others, &part, e.duplicatedBefore); err != nil {
			return err
		}
	}
	l.byOwner[e.before.ownerID] = others
	for i := range e.after {
		l.addLayer(&e.after[i], e.definition)
	}
	if err := span.CheckDepth(l.byOwner[e.before.ownerID], e.affectedDays().days); err != nil {
		l.byOwner[e.before.ownerID] = before
		return fault.Newf(patterndefinition.CodeInvalid, http.StatusBadRequest, "The %s %d cannot be changed like this: "+
			"the %s would have too many schedule patterns on one day. End or remove others first.", resourceName, e.before.id, l.kind.owner).WithCause(err)
	}
	return nil
}

// duplicatedBefore returns the days on which the assignment generated the same shifts as another
// one before the edit.
func (e *edit) duplicatedBefore(other *span.Assignment) []civil.Range {
	before := e.before.layer()
	if !generateSame(&before, other) {
		return nil
	}
	return []civil.Range{e.before.days}
}

// store writes edits with numbered parts, and starts their propagation. It returns 0 if there is
// nothing to write. Old versions are ended and never changed, so that they stay readable.
func (k *Kind) store(ctx context.Context, tx pgx.Tx, at time.Time, edits []edit) (int64, error) {
	return k.storeFor(ctx, tx, at, edits, func(*propagation.Request) {})
}

// storeFor is store, and completes the request for the propagation.
func (k *Kind) storeFor(ctx context.Context, tx pgx.Tx, at time.Time, edits []edit, complete func(*propagation.Request)) (int64, error) {
	var owners, ended []int64
	var parts []assignment
	for i := range edits {
		e := &edits[i]
		if !e.changes() {
			continue
		}
		if e.before.id != 0 {
			ended = append(ended, e.before.id)
			owners = append(owners, e.before.ownerID)
		}
		for _, a := range e.after {
			parts = append(parts, a)
			owners = append(owners, a.ownerID)
		}
	}
	if len(owners) == 0 {
		return 0, nil
	}
	slices.Sort(owners)
	assignments := slices.Clone(ended)
	for _, a := range parts {
		assignments = append(assignments, a.id)
	}
	slices.Sort(assignments)
	request := k.affected(slices.Compact(owners), slices.Compact(assignments))
	complete(&request)
	propagationID, err := propagation.Start(ctx, tx, request)
	if err != nil {
		return 0, err
	}
	if err := end(ctx, tx, propagationID, at, ended); err != nil {
		return 0, err
	}
	return propagationID, k.insert(ctx, tx, propagationID, at, parts)
}

// describe returns the result of each edit of a decision. unstored are patterns of the edits that
// are not stored, by id.
func (s *Assignments) describe(ctx context.Context, db pg.Querier, d *decision, unstored map[int64]*schedulingv1.SchedulePattern) ([]*schedulingv1.GroupSchedulePatternResult, error) {
	edits := d.edits
	var patternIDs []int64
	affected := make([]affectedDays, len(edits))
	for i := range edits {
		affected[i] = edits[i].affectedDays()
		if len(edits[i].after) > 0 {
			if id := edits[i].after[edits[i].shown].patternID; unstored[id] == nil {
				patternIDs = append(patternIDs, id)
			}
		}
	}
	patterns, err := s.deps.Definitions.Patterns(ctx, db, patternIDs)
	if err != nil {
		return nil, err
	}
	maps.Copy(patterns, unstored)
	locked, err := s.kind.lockedNotices(ctx, db, affected)
	if err != nil {
		return nil, err
	}
	after := applyAll(d.now, edits)
	results := make([]*schedulingv1.GroupSchedulePatternResult, len(edits))
	for i := range edits {
		results[i] = edits[i].result(patterns, locked[i])
		results[i].HiddenDays = edits[i].hiddenDays(after)
	}
	return results, s.addWarnings(ctx, db, d, after, unstored, results)
}

// affectedDays returns the range of days that an edit affects.
func (e *edit) affectedDays() affectedDays {
	days, ownerID := e.before.days, e.before.ownerID
	for i, a := range e.after {
		if e.before.id == 0 && i == 0 {
			days, ownerID = a.days, a.ownerID
		}
		days = civil.Range{From: min(days.From, a.days.From), To: max(days.To, a.days.To)}
	}
	return affectedDays{ownerID: ownerID, days: days}
}

func (e *edit) result(patterns map[int64]*schedulingv1.SchedulePattern, locked string) *schedulingv1.GroupSchedulePatternResult {
	result := &schedulingv1.GroupSchedulePatternResult{Status: proto.Bool(true)}
	shown := e.before
	switch {
	case len(e.after) == 0:
		result.GroupSchedulePattern = &schedulingv1.GroupSchedulePattern{
			Id:       proto.Int64(shown.id),
			GroupRef: &commonv1.Ref{Id: proto.Int64(shown.ownerID), Qualifier: proto.String(shown.ownerName)},
		}
		result.Exceptions = append(result.Exceptions, "The schedule pattern was removed.")
	default:
		shown = e.after[e.shown]
		result.GroupSchedulePattern = shown.message(patterns[shown.patternID])
	}
	switch {
	case !e.changes():
		result.Exceptions = append(result.Exceptions, "Nothing had to be changed.")
	case len(e.after) == 2 && e.shown == 0:
		rest := e.after[1]
		result.Exceptions = append(result.Exceptions,
			fmt.Sprintf("The days from %s on go on as the schedule pattern assignment%s.", rest.days.From, rest.idText()))
	}
	if !shown.inherits {
		result.Exceptions = append(result.Exceptions, noticeInheritance)
	} else if locked != "" {
		result.Exceptions = append(result.Exceptions, locked)
	}
	return result
}
