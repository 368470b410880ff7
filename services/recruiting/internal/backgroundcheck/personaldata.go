package backgroundcheck

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Export adds the background checks of the candidate of an export, and the requests to vendors for the
// candidate's applications.
func Export(ctx context.Context, db pg.Querier, out *recruitingv1.CandidateExport) (err error) {
	if out.BackgroundChecks, err = list(ctx, db, out.GetCandidate().GetId()); err != nil {
		return err
	}
	for _, a := range out.GetApplications() {
		sent, err := requests.All(ctx, db, application.Of(a.GetApplication().GetId()), "ORDER BY r.created_at, r.id")
		if err != nil {
			return err
		}
		for _, r := range sent {
			a.BackgroundCheckRequests = append(a.BackgroundCheckRequests, showRequest(r))
		}
	}
	return nil
}

func list(ctx context.Context, db pg.Querier, candidateID string) (out []*backgroundCheck, err error) {
	records, err := checks.All(ctx, db, under(candidateID), "ORDER BY r.number")
	for _, r := range records {
		out = append(out, show(candidateID, r))
	}
	return out, err
}

// Erase deletes the background checks of a candidate, and the requests to vendors for the candidate's
// applications. Vendors do not see the requests any longer.
func Erase(ctx context.Context, tx pgx.Tx, candidateID string) error {
	err := requests.DeleteAll(ctx, tx, application.OfCandidate(candidateID), func(string) record.Columns { return record.Columns{"pending": false} })
	if err != nil {
		return err
	}
	// Order numbers differ within an application, and the id takes the place of the number.
	return checks.DeleteAll(ctx, tx, under(candidateID), func(id string) record.Columns { return record.Columns{"order_number": id} })
}
