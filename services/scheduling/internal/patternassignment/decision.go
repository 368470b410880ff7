package patternassignment

import (
	"context"

	"github.com/jackc/pgx/v5"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

// decision is a change of assignments that is not stored. A preview decides in the same way as the
// change itself, and stores nothing.
type decision struct {
	// owners are the owners in the request, in any order, and now are their current assignments.
	owners []int64
	now    []assignment
	// edits are the changes without errors, in the order of the request. New parts have no numbers
	// and new patterns no ids.
	edits []edit
	// errs has an error, or nil, for each item of the request.
	errs []error
}

// firstError returns the error that ends a request without partial success.
func (d *decision) firstError(partial bool) error {
	for _, err := range d.errs {
		if err != nil && !partial {
			return err
		}
	}
	return nil
}

// finish stores a decision, and describes its edits. It returns the id of the propagation, or 0 if
// nothing changed. The transaction holds the locks of the owners.
func (s *Assignments) finish(ctx context.Context, tx pgx.Tx, d *decision, options Options) ([]*schedulingv1.GroupSchedulePatternResult, int64, error) {
	if err := s.putPatterns(ctx, tx, d.edits); err != nil {
		return nil, 0, err
	}
	at, err := number(ctx, tx, d.edits)
	if err != nil {
		return nil, 0, err
	}
	propagationID, err := s.kind.store(ctx, tx, at, d.edits)
	if err != nil {
		return nil, 0, err
	}
	if err := proposal.Record(ctx, tx, options.Preview, propagationID); err != nil {
		return nil, 0, err
	}
	described, err := s.describe(ctx, tx, d, nil)
	return described, propagationID, err
}

// putPatterns stores the patterns of edits that are not stored yet, and sets their ids in the parts.
func (s *Assignments) putPatterns(ctx context.Context, tx pgx.Tx, edits []edit) error {
	definitions := newDefinitions(edits)
	ids, err := s.deps.Definitions.Put(ctx, tx, definitions)
	if err != nil {
		return err
	}
	byDefinition := make(map[*patterndefinition.Definition]int64, len(ids))
	for i, id := range ids {
		byDefinition[definitions[i]] = id
	}
	setPatterns(edits, byDefinition)
	return nil
}

// newDefinitions returns the patterns of parts without a patternID, each once.
func newDefinitions(edits []edit) []*patterndefinition.Definition {
	var list []*patterndefinition.Definition
	known := map[*patterndefinition.Definition]bool{}
	for i := range edits {
		for k := range edits[i].after {
			if d := edits[i].definition; edits[i].after[k].patternID == 0 && !known[d] {
				known[d] = true
				list = append(list, d)
			}
		}
	}
	return list
}

// setPatterns sets the patternID of parts without one.
func setPatterns(edits []edit, ids map[*patterndefinition.Definition]int64) {
	for i := range edits {
		for k := range edits[i].after {
			if part := &edits[i].after[k]; part.patternID == 0 {
				part.patternID = ids[edits[i].definition]
			}
		}
	}
}
