package federation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const selectProvider = `SELECT tenant_id, id, name, issuer, audience, user_claim, user_match, profile_claim,
	profile_values, profile_names, algorithms, clock_skew, enabled, version FROM identity_provider`

func scanProvider(row pgx.CollectableRow) (*provider, error) {
	p := &provider{}
	err := row.Scan(&p.tenantID, &p.id, &p.name, &p.issuer, &p.audience, &p.userClaim, &p.userMatch, &p.profileClaim,
		&p.profileValues, &p.profileNames, &p.algorithms, &p.skew, &p.enabled, &p.version)
	return p, err
}

func providers(ctx context.Context, db pg.Querier, where string, args ...any) ([]*provider, error) {
	found, err := pg.Collect(ctx, db, scanProvider, selectProvider+where, args...)
	if err != nil {
		return nil, fmt.Errorf("find identity providers: %w", err)
	}
	return found, nil
}

// tenantProviders returns the provider of a tenant with an id, or all of the tenant's providers if id is 0.
func tenantProviders(ctx context.Context, db pg.Querier, id int64) ([]*provider, error) {
	return providers(ctx, db, ` WHERE tenant_id = $1 AND ($2::bigint = 0 OR id = $2) ORDER BY id LIMIT $3`, tenant.Of(ctx), id, maxProviders)
}

// findByIssuer returns the enabled provider with the issuer and one of the audiences of a token. It returns nil
// if there is none, or more than one.
func findByIssuer(ctx context.Context, db pg.Querier, issuer string, audience []string) (*provider, error) {
	found, err := providers(tenant.All(ctx), db, ` WHERE issuer = $1 AND audience = ANY($2) AND enabled LIMIT 2`, issuer, audience)
	if err != nil || len(found) != 1 {
		return nil, err
	}
	return found[0], nil
}

// foreignIssuer reports whether another tenant has a provider with an issuer.
func foreignIssuer(ctx context.Context, db pg.Querier, issuer string) (bool, error) {
	var taken bool
	if err := db.QueryRow(ctx, `SELECT issuer_of_another($1, $2)`, tenant.Of(ctx), issuer).Scan(&taken); err != nil {
		return false, fmt.Errorf("look for an issuer: %w", err)
	}
	return taken, nil
}

// insert stores a provider. It returns false if the tenant has its maximum of providers.
func insert(ctx context.Context, tx pgx.Tx, p *provider, now time.Time) (bool, error) {
	tenantID := tenant.Of(ctx)
	// The lock makes concurrent inserts count one after the other.
	if _, err := tx.Exec(ctx, `SELECT FROM tenant WHERE id = $1 FOR UPDATE`, tenantID); err != nil {
		return false, fmt.Errorf("lock tenant: %w", err)
	}
	err := tx.QueryRow(ctx, `INSERT INTO identity_provider (tenant_id, name, issuer, audience, user_claim, user_match,
			profile_claim, profile_values, profile_names, algorithms, clock_skew, enabled, created_at, updated_at)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13
		WHERE (SELECT count(*) FROM identity_provider WHERE tenant_id = $1) < $14
		RETURNING id, version`, tenantID, p.name, p.issuer, p.audience, p.userClaim, p.userMatch,
		p.profileClaim, p.profileValues, p.profileNames, p.algorithms, p.skew, p.enabled, now, maxProviders).Scan(&p.id, &p.version)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store identity provider: %w", err)
	}
	return true, nil
}

// update replaces the provider with the id. It returns false if it does not exist.
func update(ctx context.Context, tx pgx.Tx, p *provider, now time.Time) (bool, error) {
	if err := checkVersion(ctx, tx, p.id); err != nil {
		return false, err
	}
	err := tx.QueryRow(ctx, `UPDATE identity_provider SET name = $3, issuer = $4, audience = $5, user_claim = $6,
			user_match = $7, profile_claim = $8, profile_values = $9, profile_names = $10, algorithms = $11,
			clock_skew = $12, enabled = $13, updated_at = $14, version = version + 1
		WHERE tenant_id = $1 AND id = $2 RETURNING version`, tenant.Of(ctx), p.id, p.name, p.issuer, p.audience, p.userClaim, p.userMatch,
		p.profileClaim, p.profileValues, p.profileNames, p.algorithms, p.skew, p.enabled, now).Scan(&p.version)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store identity provider: %w", err)
	}
	return true, nil
}

// checkVersion locks a provider and compares its version with the request's If-Match.
func checkVersion(ctx context.Context, tx pgx.Tx, id int64) error {
	return precondition.CheckRow(ctx, tx, fmt.Sprintf("identity provider %d", id), notFound(),
		`SELECT version FROM identity_provider WHERE tenant_id = $1 AND id = $2 FOR UPDATE`, tenant.Of(ctx), id)
}

func remove(ctx context.Context, tx pgx.Tx, id int64) (bool, error) {
	if err := checkVersion(ctx, tx, id); err != nil {
		return false, err
	}
	done, err := tx.Exec(ctx, `DELETE FROM identity_provider WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), id)
	if err != nil {
		return false, fmt.Errorf("remove identity provider: %w", err)
	}
	return done.RowsAffected() == 1, nil
}
