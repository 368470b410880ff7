package restore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// retryMoved is the retry time for a caller that met a database that was replaced.
const retryMoved = time.Second

// place is the location of a database: the server and the database, and the timeline of the log.
type place struct{ database, timeline string }

// comparing watermarks the context of the guard's own transactions.
type comparing struct{}

// checkPlace rejects a connection to another database than the last compared one: a database that
// was promoted, restored or exchanged behind the same URL. A write that was accepted before must
// not reach it. Only the guard itself may use such a connection, and it compares the watermarks at once.
// Behind a pooler, which keeps connections when its servers change, the next step of the guard
// detects the change, within a second.
func (g *Guard) checkPlace(ctx context.Context, conn *pgx.Conn) error {
	if ctx.Value(comparing{}) != nil {
		return nil
	}
	g.mu.Lock()
	compared := g.compared
	g.mu.Unlock()
	if compared == (place{}) {
		return nil // No write happens before the first comparison.
	}
	var at place
	if err := conn.QueryRow(ctx, selectPlace).Scan(&at.database, &at.timeline); err != nil {
		return fmt.Errorf("restore: read where the database is: %w", err)
	}
	if at == compared {
		return nil
	}
	g.hastenStep()
	return fault.Unavailable("The database has just been replaced, and the service is checking whether it is complete. Try again in a moment.", retryMoved)
}

// notePlace records that the watermarks of the database at a place were compared and acted on.
func (g *Guard) notePlace(at place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.compared = at
}
