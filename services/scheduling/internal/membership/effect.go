package membership

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// effect is what an item does to what a person has.
type effect int

const (
	// replaceSpan leaves nothing in the span but the assignments of the item.
	replaceSpan effect = iota
	// add gives the person the assignments on their days, and leaves the other days.
	add
	// remove takes the person off the terms of the assignments on their days.
	remove
)

// on returns the assignments that a person has after the item.
func (it *item) on(old []membership) []membership {
	switch it.effect {
	case add:
		for _, m := range it.fresh {
			old = rewrite(old, m.days, []membership{m})
		}
		return old
	case remove:
		for _, m := range it.fresh {
			old = without(old, m)
		}
		return old
	default:
		return rewrite(old, it.span, it.fresh)
	}
}

// without returns assignments without the days of one, where they are on its term.
func without(old []membership, gone membership) []membership {
	out := make([]membership, 0, len(old)+1)
	for _, m := range old {
		if m.term != gone.term {
			out = append(out, m)
			continue
		}
		for _, left := range civil.AppendDifference(nil, []civil.Range{m.days}, []civil.Range{gone.days}) {
			out = append(out, membership{m.term, left})
		}
	}
	return out
}

// MultiCreateEmploymentTermAssignments gives persons assignments, which take their days
// from those that there are. Each item succeeds or fails by itself.
func (h *Handler) MultiCreateEmploymentTermAssignments(ctx context.Context, req *schedulingv1.PersonEmploymentTermsList) (*schedulingv1.PersonEmploymentTermsList, error) {
	return h.write(ctx, req.GetPersons(), add)
}

// MultiDeleteEmploymentTermAssignments takes persons off terms. Each item succeeds or
// fails by itself.
func (h *Handler) MultiDeleteEmploymentTermAssignments(ctx context.Context, req *schedulingv1.PersonEmploymentTermsList) (*schedulingv1.PersonEmploymentTermsList, error) {
	return h.write(ctx, req.GetPersons(), remove)
}

// ApplyDeleteEmploymentTermAssignments takes one person off terms.
func (h *Handler) ApplyDeleteEmploymentTermAssignments(ctx context.Context, req *schedulingv1.PersonEmploymentTerms) (*emptypb.Empty, error) {
	_, err := h.write(ctx, []*schedulingv1.PersonEmploymentTerms{req}, remove)
	if f := fault.FromError(err); f != nil && len(f.Details.GetResults()) == 1 {
		// The caller named one person, and gets what is wrong with that one.
		if failed := f.Details.GetResults()[0].GetError(); failed != nil {
			err = fault.Invalid(failed.GetErrorCode(), failed.GetMessage())
		}
	}
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}
