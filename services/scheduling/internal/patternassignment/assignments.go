// Package patternassignment puts schedule patterns on those who own them: employment
// terms, or employees. What it stores are decisions: which pattern, on whom, from when
// to when. What follows from them for schedules is the work of a propagation, which
// every change starts in its own transaction.
//
// An assignment is shown as a GroupSchedulePattern, whoever owns it: what the reference
// product calls a group is an employment term, and here any owner.
package patternassignment

import (
	"context"
	"fmt"
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// Owner is who has patterns of their own.
type Owner struct {
	ID   int64
	Name string
	// Inherits reports whether the patterns reach schedules: those of a term only while
	// it passes them on.
	Inherits bool
}

// Deps are what Assignments work with.
type Deps struct {
	Pool        *pg.Pool
	Definitions *patterndefinition.Definitions
	// Owners returns those whom refs name, in their order, or a fault when one of them
	// names nobody. It is not called in a transaction.
	Owners func(ctx context.Context, refs []*commonv1.Ref) ([]Owner, error)
	// Visible returns the owners whose assignments the caller may see. It is not
	// called in a transaction.
	Visible func(ctx context.Context) (rowvisibility.Set, error)
}

// Assignments are those of one kind of owners.
type Assignments struct {
	kind *Kind
	deps Deps
}

// New returns the assignments of a kind of owners.
func New(kind *Kind, deps Deps) *Assignments { return &Assignments{kind: kind, deps: deps} }

// clientError returns err as a fault when it is the caller's, so that it
// concerns one item and not the request.
func clientError(err error) (*fault.Error, bool) {
	f := fault.FromError(err)
	return f, f != nil && f.Status < http.StatusInternalServerError
}

// FindOwners finds the owners that refs name. With partial each ref that names none
// has an error of its own.
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
	// Only the first bad ref is named, so each is asked for alone.
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

// OneBlock is the refusal of an update with several blocks.
func (s *Assignments) OneBlock() error { return s.kind.oneBlock() }

// Days reads a range of days, both included, which stands at a path of a request.
func (s *Assignments) Days(path, start, end string) (civil.Range, error) {
	return s.kind.removedDays(path, &schedulingv1.RemovedDays{StartDate: start, EndDate: end})
}

// idsPath is where requests name assignments by their ids.
func (k *Kind) idsPath(i int) string { return fmt.Sprintf("where.%sIds[%d]", k.pattern, i) }
