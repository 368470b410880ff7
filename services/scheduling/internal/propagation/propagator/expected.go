package propagator

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// maxMemberWait is how long the plan of a propagation waits for members of its
// terms who are on their way, from when it was accepted.
const maxMemberWait = 2 * time.Second

// topicMemberships is what timekeeping calls who is on which term.
const topicMemberships = "memberships"

const noteShortage = `
INSERT INTO membership_shortage (tenant_id, employment_term_id, members) SELECT $1, unnest($2::bigint[]), unnest($3::bigint[])
ON CONFLICT (tenant_id, employment_term_id) DO UPDATE SET members = excluded.members, noted_at = clock_timestamp()`

// expected returns for how long the plan of a propagation has to wait for members,
// when it was accepted some time ago. When the wait has ended it notes how many
// did not come, has memberships compared with their owner, and returns 0.
func (p *Propagator) expected(ctx context.Context, tx pgx.Tx, id int64, list []propagation.Members, accepted time.Duration) (time.Duration, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return 0, err
	}
	missing, err := propagation.Missing(ctx, tx, list)
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	if wait := p.memberWait - accepted; wait > 0 {
		return wait, nil
	}
	var terms, counts []int64
	for _, m := range missing {
		terms, counts = append(terms, m.TermID), append(counts, m.Count)
	}
	p.log.WarnContext(ctx, "members of employment terms are missing, and follow when they come", "propagation", id, "tenant", tenantID,
		"terms", terms, "missing", counts)
	if _, err := tx.Exec(ctx, noteShortage, tenantID, terms, counts); err != nil {
		return 0, fmt.Errorf("propagation: note missing members: %w", err)
	}
	return 0, replica.Check(ctx, tx, tenantID, topicMemberships)
}

// appointment is when to plan for a tenant again.
type appointment struct {
	tenantID int64
	at       time.Time
}

// planIn has the propagations of a tenant planned after a while, unless members
// come before. While too many wait, the sweep does it.
func (p *Propagator) planIn(tenantID int64, wait time.Duration) {
	select {
	case p.appointments <- appointment{tenantID, time.Now().Add(wait)}:
	default:
	}
}

// runAppointments plans for tenants when their time has come.
func (p *Propagator) runAppointments(ctx context.Context) error {
	due := map[int64]time.Time{}
	for {
		next := time.Hour
		for _, at := range due {
			next = min(next, time.Until(at))
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case a := <-p.appointments:
			timer.Stop()
			if at, there := due[a.tenantID]; !there || a.at.Before(at) {
				due[a.tenantID] = a.at
			}
			continue
		case <-timer.C:
		}
		for tenantID, at := range due {
			if time.Now().Before(at) {
				continue
			}
			delete(due, tenantID)
			if _, err := p.plan(tenant.With(ctx, tenantID)); err != nil && ctx.Err() == nil {
				p.log.WarnContext(ctx, "planning failed, and is repeated by the sweep", "tenant", tenantID, "error", err)
			}
		}
	}
}
