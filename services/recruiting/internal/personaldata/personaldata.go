// Package personaldata exports and erases all that is stored about a candidate. Each package of objects
// exports and erases its own tables.
package personaldata

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/assessment"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/backgroundcheck"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/document"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/hire"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/offer"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// CodeRestricted (403): only callers that see all employees export and erase candidates, because applications for all opportunities are affected. Use an access profile that shows all employees.
const CodeRestricted = "WRL-50901"

type byID = recruitingv1.GetCandidateRequest

var (
	// exports add to an export what their packages store, in this order: later ones need the applications.
	exports = []func(ctx context.Context, db pg.Querier, out *recruitingv1.CandidateExport) error{
		candidate.Export, application.Export, offer.Export, assessment.Export, backgroundcheck.Export, hire.Export,
	}
	// erasures remove what their packages store, the candidate at last.
	erasures = []func(ctx context.Context, tx pgx.Tx, candidateID string) error{
		hire.Erase, offer.Erase, backgroundcheck.Erase, assessment.Erase, document.EraseCandidate, application.Erase, candidate.Erase,
	}
)

// Handler serves PersonalDataService.
type Handler struct {
	recruitingv1.UnsafePersonalDataServiceServer

	pool *pg.Pool
}

var _ recruitingv1.PersonalDataServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(pool *pg.Pool) *Handler { return &Handler{pool: pool} }

// ExportCandidate returns all that is stored about a candidate, or 404.
func (h *Handler) ExportCandidate(ctx context.Context, req *byID) (*recruitingv1.CandidateExport, error) {
	if err := requireAllRows(ctx); err != nil {
		return nil, err
	}
	r, err := candidate.Candidates.Get(ctx, h.pool, req.GetId(), record.Condition{})
	if err != nil {
		return nil, err
	}
	out := &recruitingv1.CandidateExport{Candidate: candidate.Show(r)}
	for _, export := range exports {
		if err := export(ctx, h.pool, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// EraseCandidate removes the personal data of a candidate.
func (h *Handler) EraseCandidate(ctx context.Context, req *byID) (*emptypb.Empty, error) {
	if err := requireAllRows(ctx); err != nil {
		return nil, err
	}
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		r, err := candidate.Candidates.Lock(ctx, tx, req.GetId(), record.Condition{})
		if err != nil {
			return err
		}
		if err := lockRows(ctx, tx, r.ID); err != nil {
			return err
		}
		for _, erase := range erasures {
			if err := erase(ctx, tx, r.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return &emptypb.Empty{}, err
}

func requireAllRows(ctx context.Context) error {
	if _, restricted := record.Restricted(ctx); restricted {
		return fault.Forbidden(CodeRestricted, "Only callers that see all employees export and erase candidates.")
	}
	return nil
}

// lockRows locks the applications of a candidate that tx has locked, and their offers, before the first
// write: other transactions change offers, and wait for the time of their change.
func lockRows(ctx context.Context, tx pgx.Tx, candidateID string) error {
	for _, sql := range []string{
		`SELECT FROM application WHERE tenant_id = $1 AND candidate_id = $2 ORDER BY id FOR NO KEY UPDATE`,
		`SELECT FROM offer WHERE tenant_id = $1 AND application_id IN (SELECT id FROM application WHERE tenant_id = $1 AND candidate_id = $2) ORDER BY id FOR NO KEY UPDATE`,
	} {
		if _, err := tx.Exec(ctx, sql, tenant.Of(ctx), candidateID); err != nil {
			return fmt.Errorf("lock the rows of a candidate: %w", err)
		}
	}
	return nil
}
