package locationtype

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// jobType is the name of the type of locations that have a job. Programs for the reference product use
// it without creating it first, because every installation has it.
const jobType = "Job"

// addJobType creates the type of jobs in a tenant that does not have it yet. Commons does not learn of
// new tenants, so the first operation that can need the type creates it.
func addJobType(ctx context.Context, db pg.Querier) error {
	var id int64
	err := db.QueryRow(ctx, `INSERT INTO location_type (tenant_id, name, persistent_id)
		SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM location_type WHERE tenant_id = $1 AND name = $2)
		ON CONFLICT DO NOTHING RETURNING id`, tenant.Of(ctx), jobType, structure.NewPersistentID()).Scan(&id)
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return fmt.Errorf("add the location type %s: %w", jobType, err)
}

// checkNotJobType returns a fault if a type is the type of jobs, which cannot be deleted.
func checkNotJobType(ctx context.Context, tx pgx.Tx, id int64) error {
	var name string
	err := tx.QueryRow(ctx, `SELECT name FROM location_type WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), id).Scan(&name)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil // The deletion reports it.
	case err == nil && name == jobType:
		return fault.Invalid(structure.CodeInUse, "The location type "+jobType+" cannot be deleted, because programs expect it in every installation.")
	}
	return err
}
