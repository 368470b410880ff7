package hire

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Export adds the hires of the applications of an export. A hire that has FAILED has no data.
func Export(ctx context.Context, db pg.Querier, out *recruitingv1.CandidateExport) error {
	for _, a := range out.GetApplications() {
		list, err := pg.Collect(ctx, db, scanHire, `SELECT id::text, application_id::text, person_number, coalesce(person_id, 0), state FROM hire
			WHERE tenant_id = $1 AND application_id = $2 AND state <> 'FAILED' ORDER BY number`, tenant.Of(ctx), a.GetApplication().GetId())
		if err != nil {
			return fmt.Errorf("export the hires of an application: %w", err)
		}
		a.Hires = list
	}
	return nil
}

func scanHire(row pgx.CollectableRow) (*recruitingv1.Hire, error) {
	h, of, person := &recruitingv1.Hire{}, &recruitingv1.IdRef{}, int64(0)
	if err := row.Scan(&h.Id, &of.Id, &h.PersonNumber, &person, &h.State); err != nil {
		return nil, err
	}
	h.Application = of
	if person > 0 {
		h.Person = &recruitingv1.IdRef{Id: record.PersonGUID(person)}
	}
	return h, nil
}

// Erase removes the references of hires to persons. tx has locked the applications of the candidate. If a
// hire is STARTED, the error has status 409.
func Erase(ctx context.Context, tx pgx.Tx, candidateID string) error {
	var running bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM hire h JOIN application a ON a.tenant_id = h.tenant_id AND a.id = h.application_id
		WHERE h.tenant_id = $1 AND a.candidate_id = $2 AND h.state = 'STARTED')`, tenant.Of(ctx), candidateID).Scan(&running)
	if err != nil {
		return fmt.Errorf("find the hires of a candidate: %w", err)
	}
	if running {
		return fault.Conflict(CodeRunning, "A hire of the candidate is going on. Erase the candidate after a minute.")
	}
	_, err = tx.Exec(ctx, `UPDATE hire h SET person_number = '', person_id = NULL FROM application a
		WHERE h.tenant_id = $1 AND a.tenant_id = h.tenant_id AND a.id = h.application_id AND a.candidate_id = $2`, tenant.Of(ctx), candidateID)
	if err != nil {
		return fmt.Errorf("remove the persons of hires: %w", err)
	}
	return nil
}
