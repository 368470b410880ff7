package schedulepreview

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patternassignment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// Visible returns the employees that the caller may see.
type Visible func(ctx context.Context) (rowvisibility.Set, error)

// Deps are the dependencies of a Handler.
type Deps struct {
	Pool  *pg.Pool
	Clock clock.Clock
	// Terms are the assignments of employment terms.
	Terms   *patternassignment.Assignments
	Reader  *reading.Reader
	Visible Visible
	// ProposeUndo returns the decision of an undo, as [undo.Undoers.Propose] does.
	ProposeUndo func(ctx context.Context, request *propagation.UndoRequest) (proposal.Decide, error)
}

// Handler serves SchedulePreviewService.
type Handler struct {
	schedulingv1.UnsafeSchedulePreviewServiceServer
	deps Deps
}

var _ schedulingv1.SchedulePreviewServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(deps Deps) *Handler { return &Handler{deps: deps} }
