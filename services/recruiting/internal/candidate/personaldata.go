package candidate

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/document"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Export adds the lists and documents of the candidate of an export.
func Export(ctx context.Context, db pg.Querier, out *recruitingv1.CandidateExport) (err error) {
	id := out.GetCandidate().GetId()
	if err := Profiles(ctx, db, map[string]*candidate{id: out.GetCandidate()}); err != nil {
		return err
	}
	if out.Comments, err = comments.read(ctx, db, id); err != nil {
		return fmt.Errorf("export the comments of a candidate: %w", err)
	}
	if out.References, err = references.read(ctx, db, id); err != nil {
		return fmt.Errorf("export the references of a candidate: %w", err)
	}
	out.Documents, err = document.List(ctx, db, document.Owner{CandidateID: id})
	return err
}

// Show returns the candidate of a record without its lists.
func Show(r *record.Record[*candidate]) *candidate { return show(r) }

// Erase deletes a candidate that tx has locked, with its lists.
func Erase(ctx context.Context, tx pgx.Tx, candidateID string) error {
	if _, err := tx.Exec(ctx, `DELETE FROM candidate_item WHERE tenant_id = $1 AND candidate_id = $2`, tenant.Of(ctx), candidateID); err != nil {
		return fmt.Errorf("delete the lists of a candidate: %w", err)
	}
	return Candidates.Delete(ctx, tx, candidateID, record.Columns{"email": nil, "person_id": nil})
}
