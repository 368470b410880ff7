package serve

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// RequireTenantData returns an error if the database of a service has no data of a tenant.
func RequireTenantData(ctx context.Context, database pg.Config, id int64, log *slog.Logger) error {
	pool, err := pg.Open(ctx, database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	return requireTenantData(ctx, pool, id)
}

// requireTenantData returns an error if the database of a service with events has no row of a
// tenant. Only auth has the list of tenants, so this is how other programs notice a wrong number.
// Every write of a tenant adds to the audit log, and every copied object has a head. The id 0
// means all tenants, and the default tenant exists in each installation.
func requireTenantData(ctx context.Context, pool *pg.Pool, id int64) error {
	if id == 0 || id == tenant.Default {
		return nil
	}
	var known bool
	err := pool.QueryRow(tenant.With(ctx, id), `SELECT EXISTS (SELECT FROM audit_event WHERE tenant_id = $1)
		OR EXISTS (SELECT FROM replica_head WHERE tenant_id = $1)`, id).Scan(&known)
	if err != nil {
		return fmt.Errorf("tenant %d: %w", id, err)
	}
	if !known {
		return fmt.Errorf("the database has no data of a tenant %d; auth tenant list shows the tenants", id)
	}
	return nil
}
