// Package proposal describes changes of patterns that are decided and not stored, and lets a change
// apply the preview of such a proposal.
package proposal

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Proposal is a change that is decided and not stored. Numbers that the database would assign are
// negative.
type Proposal struct {
	// Results are the results that the change would return. New assignments have no id.
	Results []*schedulingv1.GroupSchedulePatternResult
	// Later are the later decisions that build on the change that an undo undoes.
	Later []*schedulingv1.LaterDecision
	// TermIDs and EmployeeIDs are the owners of the assignments in the request, ascending. One of the
	// lists is empty.
	TermIDs, EmployeeIDs []int64
	// Owners are the owners with assignments in the request, by id.
	Owners []*commonv1.Ref
	// Days are the days that the change affects, from the first to the last; empty without a change
	// of assignments.
	Days civil.Range
	// Ended are the ids of the versions that end.
	Ended []int64
	// Added are the new versions of owners whose patterns reach schedules, by term or employee.
	Added map[int64][]span.Assignment
	// Patterns are the patterns of Added that are not stored, by negative id.
	Patterns map[int64]*schedulingv1.SchedulePattern
	// RestoresFrom is the time of the change that an undo undoes; nil for other changes. Spans that the
	// change replaced were believed until then, or longer.
	RestoresFrom *time.Time
	// Inherits has the new value of allowsInheritance of a term whose value changes, by term.
	Inherits map[int64]bool
}

// OfEmployees reports whether the owners are employees and not terms.
func (p *Proposal) OfEmployees() bool { return len(p.EmployeeIDs) > 0 }

// Decide decides a change on the state that db reads. It writes nothing and takes no locks.
type Decide func(ctx context.Context, db pg.Querier) (*Proposal, error)

// Previews finds the previews that requests apply.
type Previews interface {
	// Find returns the preview with an id for a request with a body, or nil without an id.
	Find(id *int64, body proto.Message) (Preview, error)
}

// Preview makes sure that a change does what its caller has seen before.
type Preview interface {
	// Check returns an error if the change must no longer be made. It is called once the
	// transaction holds the locks of the owners, and before it writes.
	Check(ctx context.Context, tx pgx.Tx) error
	// Record records that the transaction makes the change, and which propagation applies it; 0 for
	// a change without effect.
	Record(ctx context.Context, tx pgx.Tx, propagationID int64) error
}

// Check checks the preview that a change applies. A nil preview permits every change.
func Check(ctx context.Context, tx pgx.Tx, p Preview) error {
	if p == nil {
		return nil
	}
	return p.Check(ctx, tx)
}

// Record records that a change applies its preview, if it has one.
func Record(ctx context.Context, tx pgx.Tx, p Preview, propagationID int64) error {
	if p == nil {
		return nil
	}
	return p.Record(ctx, tx, propagationID)
}
