package explanation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// readAuditLog is the permission that shows who decided.
const readAuditLog = "auth.audit_event.read"

// readDeciders finds the users in the audit log, which has the number of the change for each transaction that
// changes schedules.
const readDeciders = `
SELECT change_revision, user_name FROM audit_event
WHERE tenant_id = $1 AND change_revision = ANY($2) AND user_name <> '' AND outcome = 'ok'`

// decision is a layer with the time of its change.
type decision struct {
	layer *schedulingv1.ScheduleLayer
	at    time.Time
}

// nameDeciders fills in who made the changes, if the caller may read the audit log. Changes without a user, and
// those whose row of the audit log is deleted, stay without.
func (h *Handler) nameDeciders(ctx context.Context, decided []decision) error {
	if p, ok := authn.From(ctx); !ok || !p.Has(readAuditLog) || len(decided) == 0 {
		return nil
	}
	revisions := make([]int64, len(decided))
	for i := range decided {
		revisions[i] = decided[i].at.UnixMicro()
	}
	slices.Sort(revisions)
	users := map[int64]string{}
	var revision int64
	var user string
	err := pg.ForEach(ctx, h.deps.Pool, []any{&revision, &user}, func() error {
		users[revision] = user
		return nil
	}, readDeciders, tenant.Of(ctx), slices.Compact(revisions))
	if err != nil {
		return fmt.Errorf("explanation: read the audit log: %w", err)
	}
	for i := range decided {
		decided[i].layer.DecidedBy = users[decided[i].at.UnixMicro()]
	}
	return nil
}
