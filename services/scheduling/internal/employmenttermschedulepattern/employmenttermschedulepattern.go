// Package employmenttermschedulepattern puts schedule patterns on employment terms. What it
// stores are decisions: which pattern, on which term, from when to when. What
// follows from them for the employees is the work of a propagation, which every
// change starts in its own transaction.
//
// On the wire a term is called a group, and an assignment a group schedule
// pattern.
package employmenttermschedulepattern

import (
	"context"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// Settings are what operators choose. Zero values mean the defaults.
type Settings struct {
	GovernedDays int32 `name:"governed-days" env:"GOVERNED_DAYS" default:"60" help:"Days that the pattern builder's configuration shows. Schedules have no horizon: nothing depends on it."`
}

const defaultGovernedDays = 60

// Resolver finds employment terms. What is not known here it asks of the
// service that owns it, so it must not be used in a transaction.
type Resolver interface {
	// Terms returns the terms in the order of the refs, or WFS-106607 when one
	// of them does not exist.
	Terms(ctx context.Context, refs []*commonv1.Ref) ([]projection.Term, error)
}

// Members knows how many employees terms have.
type Members interface {
	// Expected returns the numbers of those terms of which not all are known here:
	// they were put on them a moment ago. It must not be used in a transaction.
	Expected(ctx context.Context, termIDs []int64) []propagation.Members
}

// Deps are what a Handler works with.
type Deps struct {
	Pool        *pg.Pool
	Definitions *patterndefinition.Definitions
	Terms       Resolver
	// Members is asked before a change starts a propagation, whose plan waits for
	// those whom it expects, so that its total has everybody.
	Members Members
	// Wake tells the outbox relay that there is something to publish. It is
	// called after the commit.
	Wake func()
}

// Handler serves EmploymentTermSchedulePatternService.
type Handler struct {
	schedulingv1.UnsafeEmploymentTermSchedulePatternServiceServer

	deps         Deps
	governedDays int32
}

var _ schedulingv1.EmploymentTermSchedulePatternServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(settings Settings, deps Deps) *Handler {
	h := &Handler{deps: deps, governedDays: settings.GovernedDays}
	if h.governedDays <= 0 {
		h.governedDays = defaultGovernedDays
	}
	return h
}
