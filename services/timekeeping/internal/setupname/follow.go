package setupname

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const (
	// renameTimeout is the timeout of one call of commons, which stops earlier if there are many persons.
	renameTimeout = 10 * time.Second
	// The sweep runs every sweepEvery and takes up names that are older than sweepAfter. Newer names are
	// left to the requests that made them.
	sweepEvery = 2 * time.Second
	sweepAfter = 5 * time.Second
	sweepLimit = 100
)

const (
	listWaiting = `SELECT name FROM setup_former_name WHERE tenant_id = $1 AND kind = $2 AND resource_id = $3 AND NOT followed ORDER BY changed_at`

	// The name may belong to another object by now, or wait for a later name.
	noteFollowed = `
UPDATE setup_former_name f SET followed = true FROM %s r
WHERE f.tenant_id = $1 AND f.kind = $2 AND f.name = $3 AND f.resource_id = $4 AND r.tenant_id = $1 AND r.id = $4 AND r.name = $5`

	listUnfollowed = `
SELECT tenant_id, kind, resource_id FROM setup_former_name
WHERE NOT followed AND changed_at < clock_timestamp() - make_interval(secs => $1)
GROUP BY tenant_id, kind, resource_id ORDER BY min(changed_at) LIMIT $2`

	followed pg.Unaudited = "commons has what was changed and audited before"
)

var errIncomplete = errors.New("some persons still have the former name")

// follow has commons write the present name of an object into the data that names it by former names.
// Repeated calls do no harm: nothing else can have a former name that is not followed.
func (n *Names) follow(ctx context.Context, kind Kind, id int64) error {
	waiting, err := pg.Collect(ctx, n.pool, pgx.RowTo[string], listWaiting, tenant.Of(ctx), kind, id)
	if err != nil || len(waiting) == 0 {
		return err
	}
	table := pgx.Identifier{string(kind)}.Sanitize()
	var present string
	if err := n.pool.QueryRow(ctx, `SELECT name FROM `+table+` WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), id).Scan(&present); err != nil {
		return fmt.Errorf("read the name of %s %d: %w", kind, id, err)
	}
	for _, former := range waiting {
		if err := n.rename(ctx, kind, former, present); err != nil {
			return err
		}
		if _, err := followed.Exec(ctx, n.pool, fmt.Sprintf(noteFollowed, table), tenant.Of(ctx), kind, former, id, present); err != nil {
			return fmt.Errorf("note that persons have the new name of %s %d: %w", kind, id, err)
		}
	}
	return nil
}

func (n *Names) rename(ctx context.Context, kind Kind, former, present string) error {
	ctx, cancel := context.WithTimeout(ctx, renameTimeout)
	defer cancel()
	response, err := n.persons.RenamePaySetup(ctx, &commonsv1.RenamePaySetupRequest{Kind: persons[kind], From: former, To: present})
	if err != nil {
		return fmt.Errorf("rename %s in the data of persons: %w", kind, err)
	}
	if response.GetIncomplete() {
		return errIncomplete
	}
	return nil
}

// Run lets the data of persons follow the names that requests could not complete, until ctx ends.
func (n *Names) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := n.sweep(ctx); err != nil && ctx.Err() == nil {
				n.log.WarnContext(ctx, "persons do not have the new names of objects yet; it is tried again", "error", err)
			}
		}
	}
}

// sweep follows the waiting names of all tenants.
func (n *Names) sweep(ctx context.Context) error {
	type waiting struct {
		Tenant int64
		Kind   string
		ID     int64
	}
	list, err := pg.Collect(tenant.All(ctx), n.pool, pgx.RowToStructByPos[waiting], listUnfollowed, sweepAfter.Seconds(), sweepLimit)
	if err != nil {
		return fmt.Errorf("look for new names: %w", err)
	}
	var failed error
	for _, w := range list {
		failed = errors.Join(failed, n.follow(tenant.With(ctx, w.Tenant), Kind(w.Kind), w.ID))
	}
	return failed
}
