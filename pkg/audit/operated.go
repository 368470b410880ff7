package audit

import (
	"context"
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Operated stores the row of an operator's command on a tenant, such as "user unlock". Call it in
// the transaction of the command.
func Operated(ctx context.Context, db pg.Querier, at time.Time, command string, objects ...string) error {
	return Event{Tenant: tenant.Of(ctx), At: at, Operation: command, Objects: objects, Outcome: OK}.Write(ctx, db)
}
