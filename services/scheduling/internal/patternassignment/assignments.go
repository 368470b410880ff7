// Package patternassignment assigns schedule patterns to owners: employment terms or employees. It
// stores only these decisions: the pattern, the owner and the days. Each change starts a
// propagation in its transaction, which applies it to schedules.
//
// An assignment has the form of a GroupSchedulePattern for every kind of owner. The reference
// product's group is an employment term, and here any owner.
package patternassignment

import (
	"context"
	"fmt"
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// Owner is an employment term or an employee with patterns.
type Owner struct {
	ID   int64
	Name string
	// Inherits reports whether the patterns reach schedules. Those of a term do so only while it
	// passes them on.
	Inherits bool
}

// Deps are the dependencies of Assignments.
type Deps struct {
	Pool        *pg.Pool
	Definitions *patterndefinition.Definitions
	// Owners returns the owners of references, in their order, or an error if one of them does not
	// exist. It is not called in a transaction. Unknown returns this error.
	Owners  func(ctx context.Context, refs []*commonv1.Ref) ([]Owner, error)
	Unknown func(ref *commonv1.Ref) error
	// Visible returns the owners that the caller may see. It is not called in a transaction.
	Visible func(ctx context.Context) (rowvisibility.Set, error)
	// Instants finds the past instants of requests.
	Instants *asof.Instants
	// Propagations is used by requests that wait.
	Propagations Propagations
	// JobPaths warns of jobs of patterns that no location has. It may be nil.
	JobPaths *jobpath.Checker
}

// Assignments manages the assignments of one kind of owners.
type Assignments struct {
	kind *Kind
	deps Deps
}

// New returns the assignments of a kind of owners.
func New(kind *Kind, deps Deps) *Assignments { return &Assignments{kind: kind, deps: deps} }

// clientError returns err as a fault if the caller caused it, so that it concerns one item and not
// the request.
func clientError(err error) (*fault.Error, bool) {
	f := fault.FromError(err)
	return f, f != nil && f.Status < http.StatusInternalServerError
}

// FindOwners finds the owners of references. With partial, each unknown reference has its own
// error.
func (s *Assignments) FindOwners(ctx context.Context, refs []*commonv1.Ref, partial bool) ([]Owner, []error, error) {
	errs := make([]error, len(refs))
	if len(refs) == 0 {
		return nil, errs, nil
	}
	owners, err := s.deps.Owners(ctx, refs)
	if err == nil {
		return owners, errs, nil
	}
	if _, ok := clientError(err); !ok || !partial {
		return nil, nil, err
	}
	// The error is only about the first bad reference, so look up each one separately.
	owners = make([]Owner, len(refs))
	for i, ref := range refs {
		one, err := s.deps.Owners(ctx, []*commonv1.Ref{ref})
		if err == nil {
			owners[i] = one[0]
		} else if f, ok := clientError(err); ok {
			errs[i] = f
		} else {
			return nil, nil, err
		}
	}
	return owners, errs, nil
}

// visibleOnDays returns the owners that the caller may see on some days. Callers check the days of each
// assignment with [rowvisibility.Set.HasOn].
func (s *Assignments) visibleOnDays(ctx context.Context) (rowvisibility.Set, error) {
	return s.deps.Visible(rowvisibility.OnAnyDay(ctx))
}

// checkVisible returns the error for an unknown owner if the caller does not see the owner of an assignment on
// all of its days.
func (s *Assignments) checkVisible(ctx context.Context, visible rowvisibility.Set, list []assignment) error {
	for i := range list {
		if a := &list[i]; !visible.HasOn(a.ownerID, a.days) {
			authn.NoteNotVisible(ctx)
			return s.deps.Unknown(&commonv1.Ref{Qualifier: &a.ownerName})
		}
	}
	return nil
}

// Days parses a range of days at a path of a request, both ends inclusive.
func (s *Assignments) Days(path, start, end string) (civil.Range, error) {
	return s.kind.removedDays(path, &schedulingv1.RemovedDays{StartDate: start, EndDate: end})
}

// idsPath returns the path of an assignment id in requests.
func (k *Kind) idsPath(i int) string { return fmt.Sprintf("where.%sIds[%d]", k.pattern, i) }
