package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Topic is a kind of states that a service can tell anew. Who keeps a copy of
// them needs that when it begins later than the broker remembers, or has lost
// the copy.
type Topic struct {
	Name string
	// Page appends the events of the next states of a tenant, those whose keys
	// follow after, which is 0 at first, and returns the last key of the page. It
	// answers false when nothing follows any more. A page is one transaction, so
	// it should be small; the states must be told so that an older one that comes
	// later does no harm.
	Page func(ctx context.Context, tx pgx.Tx, tenantID, after int64) (last int64, more bool, err error)
}

// Reteller tells topics anew when that is asked for. Any number of replicas may
// run one.
type Reteller struct {
	pool   *pgxpool.Pool
	wake   func()
	log    *slog.Logger
	topics map[string]Topic
	names  []string
	asked  chan struct{}
}

// NewReteller makes a Reteller of topics. It calls wake after each page.
func NewReteller(pool *pgxpool.Pool, wake func(), log *slog.Logger, topics ...Topic) *Reteller {
	r := &Reteller{pool: pool, wake: wake, log: log, topics: map[string]Topic{}, asked: make(chan struct{}, 1)}
	for _, t := range topics {
		r.topics[t.Name], r.names = t, append(r.names, t.Name)
	}
	return r
}

// Ask has a topic told anew, from the beginning, to the tenant of the context.
// What is no topic of this service is left to others.
func (r *Reteller) Ask(ctx context.Context, topic string) error {
	tenantID, ok := tenant.From(ctx)
	if !ok {
		return errors.New("outbox: the context has no tenant")
	}
	if _, known := r.topics[topic]; !known {
		return nil
	}
	_, err := r.pool.Exec(ctx, `
		INSERT INTO retelling (tenant_id, topic) VALUES ($1, $2)
		ON CONFLICT (tenant_id, topic) DO UPDATE SET after = 0, requested_at = now()`, tenantID, topic)
	if err != nil {
		return fmt.Errorf("outbox: ask for %s: %w", topic, err)
	}
	select {
	case r.asked <- struct{}{}:
	default:
	}
	return nil
}

// retellEvery is the pause between two looks for what others asked for, and
// after a failure.
const retellEvery = 5 * time.Second

// Run tells what is asked for until ctx ends.
func (r *Reteller) Run(ctx context.Context) error {
	for {
		more, err := r.page(ctx)
		if err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "states could not be told anew", "error", err)
		}
		if err == nil && more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.asked:
		case <-time.After(retellEvery):
		}
	}
}

// page tells one page of any topic that is asked for, and reports whether there
// may be more. What fails does not keep the others back.
func (r *Reteller) page(ctx context.Context) (bool, error) {
	var tenantID int64
	var name string
	err := r.pool.QueryRow(tenant.All(ctx), `SELECT tenant_id, topic FROM retelling WHERE topic = ANY($1) ORDER BY random() LIMIT 1`,
		r.names).Scan(&tenantID, &name)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("outbox: look for what to tell anew: %w", err)
	}
	err = pg.InTx(tenant.With(ctx, tenantID), r.pool, func(ctx context.Context, tx pgx.Tx) error {
		return r.tell(ctx, tx, tenantID, name)
	})
	if err != nil {
		return false, fmt.Errorf("outbox: tell %s of tenant %d anew: %w", name, tenantID, err)
	}
	r.wake()
	return true, nil
}

func (r *Reteller) tell(ctx context.Context, tx pgx.Tx, tenantID int64, name string) error {
	var after int64
	err := tx.QueryRow(ctx, `SELECT after FROM retelling WHERE tenant_id = $1 AND topic = $2 FOR UPDATE`, tenantID, name).Scan(&after)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // Another replica told the last page.
	}
	if err != nil {
		return err
	}
	last, more, err := r.topics[name].Page(ctx, tx, tenantID, after)
	if err != nil {
		return err
	}
	if more {
		_, err = tx.Exec(ctx, `UPDATE retelling SET after = $3 WHERE tenant_id = $1 AND topic = $2`, tenantID, name, last)
	} else {
		_, err = tx.Exec(ctx, `DELETE FROM retelling WHERE tenant_id = $1 AND topic = $2`, tenantID, name)
	}
	return err
}
