package audit

import (
	"context"
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// Operated stores the row of what an operator has done to a tenant by a command of a program, such as
// "user unlock". It goes into the transaction of that.
func Operated(ctx context.Context, db pg.Querier, tenantID int64, at time.Time, command string, objects ...string) error {
	return Event{Tenant: tenantID, At: at, Operation: command, Objects: objects, Outcome: OK}.Write(ctx, db)
}
