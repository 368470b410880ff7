package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// DeadLetters is the command over the events that consumers of a service gave up.
type DeadLetters struct {
	List   ListDeadLetters   `cmd:"" help:"List the events that were given up, and why."`
	Replay ReplayDeadLetters `cmd:"" help:"Have events that were given up handled once more, by whoever serves."`
}

// Of says in which database the dead letters are, before the settings are read.
func (d *DeadLetters) Of(database *pg.Config) {
	d.List.database, d.Replay.database = database, database
}

// ListDeadLetters is the command of that name.
type ListDeadLetters struct {
	boot.Output
	Tenant int64 `help:"Only those of a tenant; 0 means all." default:"0"`

	database *pg.Config `kong:"-"`
}

// listed is how many dead letters are read at once.
const listed = 500

// deadLetterRow is a dead letter as programs read it.
type deadLetterRow struct {
	ID        int64     `json:"id"`
	Tenant    int64     `json:"tenant"`
	Consumer  string    `json:"consumer"`
	Event     string    `json:"event"`
	Published time.Time `json:"published"`
	Reason    string    `json:"reason"`
}

// Do prints one line for each dead letter, the oldest first, and how many there are.
func (l *ListDeadLetters) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	return l.In(ctx, *l.database, log, out)
}

// In is Do in a database.
func (l *ListDeadLetters) In(ctx context.Context, database pg.Config, log *slog.Logger, out io.Writer) error {
	pool, err := pg.Open(ctx, database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	letters, all := outbox.NewDeadLetters(pool), []deadLetterRow{}
	for last := int64(0); ; {
		found, err := letters.List(tenantContext(ctx, l.Tenant), last, listed)
		if err != nil {
			return err
		}
		for _, letter := range found {
			last = letter.ID
			all = append(all, deadLetterRow{
				letter.ID, letter.Message.Tenant, letter.Consumer, letter.Message.Event, letter.Message.Published.UTC(), letter.Reason,
			})
		}
		if len(found) < listed {
			return l.print(out, all)
		}
	}
}

func (l *ListDeadLetters) print(out io.Writer, all []deadLetterRow) error {
	err := l.Print(out, all, func(table io.Writer) {
		for _, letter := range all {
			fmt.Fprintf(table, "%d\ttenant %d\t%s\t%s\t%s\t%s\n", letter.ID, letter.Tenant, letter.Consumer, letter.Event,
				letter.Published.Format(time.RFC3339), letter.Reason)
		}
	})
	if err != nil || l.JSON() {
		return err
	}
	_, err = fmt.Fprintf(out, "%d dead letters\n", len(all))
	return err
}

// ReplayDeadLetters is the command of that name.
type ReplayDeadLetters struct {
	IDs    []int64 `arg:"" optional:"" name:"id" help:"The letters, as list shows them; all unless one is named."`
	Tenant int64   `help:"Only those of a tenant; 0 means all." default:"0"`

	database *pg.Config `kong:"-"`
}

// Do notes in the database that the dead letters are to be handled once more; whoever
// serves does so within seconds. Those that fail again are kept, with the reason
// of then.
func (r *ReplayDeadLetters) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	return r.In(ctx, *r.database, log, out)
}

// In is Do in a database.
func (r *ReplayDeadLetters) In(ctx context.Context, database pg.Config, log *slog.Logger, out io.Writer) error {
	pool, err := pg.Open(ctx, database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	ids := append([]int64{}, r.IDs...)
	tenants := []int64{r.Tenant}
	if r.Tenant == 0 {
		if tenants, err = outbox.NewDeadLetters(pool).Tenants(tenant.All(ctx)); err != nil {
			return err
		}
	}
	n := 0
	for _, tenantID := range tenants {
		requested, err := requestReplay(ctx, pool, tenantID, ids)
		if err != nil {
			return fmt.Errorf("replay dead letters: %w", err)
		}
		n += requested
	}
	if n == 0 && len(ids) > 0 {
		return fmt.Errorf("there are no dead letters with these numbers")
	}
	_, err = fmt.Fprintf(out, "%d dead letters will be handled once more within seconds; list shows those that fail again\n", n)
	return err
}

// requestReplay asks for the replay of letters of a tenant, and returns how many there are.
func requestReplay(ctx context.Context, pool *pg.Pool, tenantID int64, ids []int64) (n int, err error) {
	err = pg.InTx(tenant.With(ctx, tenantID), pool, func(ctx context.Context, tx pgx.Tx) error {
		found, err := outbox.NewDeadLetters(tx).RequestReplay(ctx, ids)
		if n = len(found); err != nil || n == 0 {
			return err
		}
		letters := make([]string, n)
		for i, id := range found {
			letters[i] = strconv.FormatInt(id, 10)
		}
		return audit.Operated(ctx, tx, tenantID, clock.System{}.Now(), "deadletter replay", letters...)
	})
	return n, err
}

// tenantContext is the context of a tenant's dead letters, or of all when it is 0.
func tenantContext(ctx context.Context, tenantID int64) context.Context {
	if tenantID > 0 {
		return tenant.With(ctx, tenantID)
	}
	return tenant.All(ctx)
}
