package audit

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/denial"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
)

const insertDenial = `INSERT INTO audit_event (tenant_id, occurred_at, user_name, person_id, client_id, service, operation,
	objects, request_id, outcome, times, last_at) VALUES ($1, $2, $3, $4, $5, '', $6, '{}', $7, $8, $9, nullif($10::timestamptz, $2::timestamptz))`

const auditLog pg.Unaudited = "these are rows of the audit log"

// RecordDenials returns a store that writes denials as rows of the audit log.
func RecordDenials(pool *pg.Pool) denial.Store {
	return func(ctx context.Context, refusals []*denial.Denial) error {
		batch := &pgx.Batch{}
		for _, r := range refusals {
			batch.Queue(insertDenial, r.Tenant, r.First, short(r.User), r.PersonID, short(r.Client), short(r.Operation),
				r.RequestID, short(r.Outcome), r.Times, r.Last)
		}
		if err := auditLog.SendBatch(ctx, pool, batch); err != nil {
			return fmt.Errorf("store denials: %w", err)
		}
		return nil
	}
}

// NoteDenials returns the function that records denials for a chain of interceptors.
func NoteDenials(g *denial.Aggregator, clk clock.Clock) func(context.Context, *policy.Method, *authn.Principal, *fault.Error) {
	return func(ctx context.Context, method *policy.Method, p *authn.Principal, f *fault.Error) {
		g.Add(denial.Kind{
			Tenant: p.Tenant, User: p.Subject, Client: p.Client, Operation: method.Name[1:], Outcome: cmp.Or(f.OAuth, f.Code),
		}, p.PersonID, obs.RequestFrom(ctx).ID, clk.Now())
	}
}
