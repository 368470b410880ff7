package membership

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// effect is the kind of change that an item makes to a person's assignments.
type effect int

const (
	// replaceSpan replaces all assignments in the span by the assignments of the item.
	replaceSpan effect = iota
	// add assigns the person to the terms on the given days, and keeps the other days.
	add
	// remove ends the given assignments on their days.
	remove
)

// apply returns the person's assignments after the item.
func (it *item) apply(old []membership) []membership {
	switch it.effect {
	case add:
		for _, m := range it.fresh {
			old = rewrite(old, m.days, []membership{m})
		}
		return old
	case remove:
		for _, m := range it.fresh {
			old = subtract(old, m)
		}
		return old
	default:
		return rewrite(old, it.span, it.fresh)
	}
}

// subtract returns the assignments without the given days on the given term.
func subtract(old []membership, removed membership) []membership {
	out := make([]membership, 0, len(old)+1)
	for _, m := range old {
		if m.term != removed.term {
			out = append(out, m)
			continue
		}
		for _, remaining := range civil.AppendDifference(nil, []civil.Range{m.days}, []civil.Range{removed.days}) {
			out = append(out, membership{m.term, remaining})
		}
	}
	return out
}

// MultiCreateEmploymentTermAssignments adds assignments to persons. They replace existing
// assignments on the same days. Each item succeeds or fails independently.
func (h *Handler) MultiCreateEmploymentTermAssignments(ctx context.Context, req *schedulingv1.PersonEmploymentTermsList) (*schedulingv1.PersonEmploymentTermsList, error) {
	return h.write(ctx, req.GetPersons(), add)
}

// MultiDeleteEmploymentTermAssignments removes persons from terms. Each item succeeds or fails
// independently.
func (h *Handler) MultiDeleteEmploymentTermAssignments(ctx context.Context, req *schedulingv1.PersonEmploymentTermsList) (*schedulingv1.PersonEmploymentTermsList, error) {
	return h.write(ctx, req.GetPersons(), remove)
}

// ApplyDeleteEmploymentTermAssignments removes one person from terms.
func (h *Handler) ApplyDeleteEmploymentTermAssignments(ctx context.Context, req *schedulingv1.PersonEmploymentTerms) (*emptypb.Empty, error) {
	_, err := h.write(ctx, []*schedulingv1.PersonEmploymentTerms{req}, remove)
	if f := fault.FromError(err); f != nil && len(f.Details.GetResults()) == 1 {
		// The request has one person, so the response is the error of that person.
		if failed := f.Details.GetResults()[0].GetError(); failed != nil {
			err = fault.Invalid(failed.GetErrorCode(), failed.GetMessage())
		}
	}
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}
