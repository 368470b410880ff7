package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// find returns the clients that match a condition.
func find(ctx context.Context, db pg.Querier, where string, args ...any) ([]settings, error) {
	found, err := pg.Collect(ctx, db, pgx.RowToStructByPos[settings], `SELECT client_id, enabled, password_grant, refresh_grant, client_grant, access_profile, scopes, version
		FROM client `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("find clients: %w", err)
	}
	return found, nil
}

// findOne returns the client with an id, or 404.
func findOne(ctx context.Context, db pg.Querier, id, lock string) (settings, error) {
	found, err := find(ctx, db, `WHERE tenant_id = $1 AND client_id = $2 `+lock, tenant.Of(ctx), id)
	if err != nil {
		return settings{}, err
	}
	if len(found) == 0 {
		return settings{}, fault.NotFound(fault.CodeNotFound, "There is no client with this id.")
	}
	return found[0], nil
}

// insert stores a new client and sets its version. It returns false if the id exists or the tenant has its
// maximum of clients.
func insert(ctx context.Context, db pg.Querier, s *settings, secretHash []byte) (bool, error) {
	err := db.QueryRow(ctx, `INSERT INTO client (tenant_id, client_id, secret_hash, enabled, password_grant, refresh_grant,
			client_grant, access_profile, scopes)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 WHERE (SELECT count(*) FROM client WHERE tenant_id = $1) < $10
		ON CONFLICT DO NOTHING RETURNING version`,
		tenant.Of(ctx), s.ID, secretHash, s.Enabled, s.PasswordGrant, s.RefreshGrant, s.ClientGrant, s.Profile, s.Scopes, maxClients).Scan(&s.Version)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store client: %w", err)
	}
	return true, nil
}

func update(ctx context.Context, db pg.Querier, s settings) error {
	_, err := db.Exec(ctx, `UPDATE client SET enabled = $3, password_grant = $4, refresh_grant = $5, client_grant = $6,
			access_profile = $7, scopes = $8, version = version + 1
		WHERE tenant_id = $1 AND client_id = $2`,
		tenant.Of(ctx), s.ID, s.Enabled, s.PasswordGrant, s.RefreshGrant, s.ClientGrant, s.Profile, s.Scopes)
	if err != nil {
		return fmt.Errorf("store client: %w", err)
	}
	return nil
}
