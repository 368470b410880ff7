package assessment

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Handler serves AssessmentService.
type Handler struct {
	recruitingv1.UnsafeAssessmentServiceServer

	pool    *pg.Pool
	visible []candidate.Condition
}

var _ recruitingv1.AssessmentServiceServer = (*Handler)(nil)

// New returns a Handler. A caller with restricted rows sees the assessments of the candidates that one of
// the conditions permits, and of those that they created.
func New(pool *pg.Pool, visible ...candidate.Condition) *Handler {
	return &Handler{pool: pool, visible: visible}
}

// under returns the condition for the assessments of a candidate.
func under(candidateID string) record.Condition {
	return record.Condition{SQL: "r.candidate_id = @candidate", Args: pgx.NamedArgs{"candidate": candidateID}}
}

// ListCandidateAssessments returns the assessments of a candidate.
func (h *Handler) ListCandidateAssessments(ctx context.Context, req *recruitingv1.ListCandidateAssessmentsRequest) (*recruitingv1.CandidateAssessmentList, error) {
	c, err := candidate.Candidates.Get(ctx, h.pool, req.GetId(), candidate.Visible(ctx, h.visible...))
	if err != nil {
		return nil, err
	}
	items, err := list(ctx, h.pool, c.ID)
	return &recruitingv1.CandidateAssessmentList{Items: items}, err
}

// GetCandidateAssessment returns one assessment of a candidate, or 404.
func (h *Handler) GetCandidateAssessment(ctx context.Context, req *recruitingv1.GetCandidateAssessmentRequest) (*assessment, error) {
	c, err := candidate.Candidates.Get(ctx, h.pool, req.GetId(), candidate.Visible(ctx, h.visible...))
	if err != nil {
		return nil, err
	}
	r, err := assessments.Get(ctx, h.pool, req.GetAssessmentId(), under(c.ID))
	if err != nil {
		return nil, err
	}
	return show(c.ID, r), nil
}

// CreateCandidateAssessment adds an assessment to a candidate.
func (h *Handler) CreateCandidateAssessment(ctx context.Context, req *recruitingv1.CreateCandidateAssessmentRequest) (*assessment, error) {
	return h.write(ctx, req.GetId(), req.GetBody(), func(ctx context.Context, tx pgx.Tx, candidateID string, a *assessment) (*record.Record[*assessment], error) {
		return assessments.Insert(ctx, tx, a, record.Columns{"candidate_id": candidateID})
	})
}

// UpdateCandidateAssessment replaces an assessment of a candidate.
func (h *Handler) UpdateCandidateAssessment(ctx context.Context, req *recruitingv1.UpdateCandidateAssessmentRequest) (*assessment, error) {
	return h.write(ctx, req.GetId(), req.GetBody(), func(ctx context.Context, tx pgx.Tx, candidateID string, a *assessment) (*record.Record[*assessment], error) {
		r, err := assessments.Lock(ctx, tx, req.GetAssessmentId(), under(candidateID))
		if err != nil {
			return nil, err
		}
		return assessments.Update(ctx, tx, r.ID, a, nil)
	})
}

// write checks an assessment, locks its candidate, and stores it.
func (h *Handler) write(ctx context.Context, candidateID string, a *assessment,
	store func(ctx context.Context, tx pgx.Tx, candidateID string, a *assessment) (*record.Record[*assessment], error),
) (out *assessment, err error) {
	if a == nil {
		a = &assessment{}
	}
	if err := prepare(a); err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		c, err := candidate.Candidates.Lock(ctx, tx, candidateID, candidate.Visible(ctx, h.visible...))
		if err != nil {
			return err
		}
		r, err := store(ctx, tx, c.ID, a)
		if err != nil {
			return err
		}
		out = show(c.ID, r)
		return nil
	})
	return out, err
}
