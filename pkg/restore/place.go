package restore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// retryMoved is when a caller may try again who met a database that has just moved.
const retryMoved = time.Second

// place is where a database is: the server and the database, and the timeline of the log.
type place struct{ database, timeline string }

// comparing marks the context of the guard's own transactions.
type comparing struct{}

// checkPlace refuses a connection to another database than the one whose marks were
// compared last: one that was promoted, restored or exchanged behind the same URL. A write
// that was let through before must not meet it. Only the guard itself may use such a
// connection, and compares the marks at once. Behind a pooler, which keeps connections when
// its servers change, the next look of the guard finds it, within a second.
func (g *Guard) checkPlace(ctx context.Context, conn *pgx.Conn) error {
	if ctx.Value(comparing{}) != nil {
		return nil
	}
	g.mu.Lock()
	compared := g.compared
	g.mu.Unlock()
	if compared == (place{}) {
		return nil // Nothing is written before the first comparison.
	}
	var at place
	if err := conn.QueryRow(ctx, selectPlace).Scan(&at.database, &at.timeline); err != nil {
		return fmt.Errorf("restore: read where the database is: %w", err)
	}
	if at == compared {
		return nil
	}
	g.hasten()
	return fault.Unavailable("The database was exchanged a moment ago, and the service checks whether it is complete. Try again in a moment.", retryMoved)
}

// notePlace says that the marks of the database at a place were compared, and acted on.
func (g *Guard) notePlace(at place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.compared = at
}
