package assessment

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Export adds the assessments of the candidate of an export.
func Export(ctx context.Context, db pg.Querier, out *recruitingv1.CandidateExport) (err error) {
	out.Assessments, err = list(ctx, db, out.GetCandidate().GetId())
	return err
}

func list(ctx context.Context, db pg.Querier, candidateID string) (out []*assessment, err error) {
	records, err := assessments.All(ctx, db, under(candidateID), "ORDER BY r.number")
	for _, r := range records {
		out = append(out, show(candidateID, r))
	}
	return out, err
}

// Erase deletes the assessments of a candidate.
func Erase(ctx context.Context, tx pgx.Tx, candidateID string) error {
	return assessments.DeleteAll(ctx, tx, under(candidateID), func(string) record.Columns { return nil })
}
