package audit

import (
	"context"
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// Operated stores the row of an operator's command on a tenant, such as "user unlock". Call it in
// the transaction of the command.
func Operated(ctx context.Context, db pg.Querier, tenantID int64, at time.Time, command string, objects ...string) error {
	return Event{Tenant: tenantID, At: at, Operation: command, Objects: objects, Outcome: OK}.Write(ctx, db)
}
