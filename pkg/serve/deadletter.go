package serve

import (
	"context"
	"errors"
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

// DeadLetters are the commands for the events that a service's consumers gave up on.
type DeadLetters struct {
	List   ListDeadLetters   `cmd:"" help:"List dead letters and the reasons."`
	Replay ReplayDeadLetters `cmd:"" help:"Retry dead-lettered events. The running service handles them."`
}

// Configure sets the database of the dead letters. Call it before the settings are read.
func (d *DeadLetters) Configure(database *pg.Config) {
	d.List.database, d.Replay.database = database, database
}

// ListDeadLetters is the command deadletter list.
type ListDeadLetters struct {
	boot.Output
	Tenant int64 `help:"Only the dead letters of one tenant; 0 means all." default:"0"`

	database *pg.Config `kong:"-"`
}

// listPage is the number of dead letters that are read at once.
const listPage = 500

// ListedDeadLetter is the JSON output for a dead letter.
type ListedDeadLetter struct {
	// Service is absent if the program has only one.
	Service   string    `json:"service,omitempty"`
	ID        int64     `json:"id"`
	Tenant    int64     `json:"tenant"`
	Consumer  string    `json:"consumer"`
	Event     string    `json:"event"`
	Published time.Time `json:"published"`
	Reason    string    `json:"reason"`
}

// Do prints one line for each dead letter, the oldest first, and their number.
func (l *ListDeadLetters) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	pool, err := pg.Open(ctx, *l.database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := requireTenantData(ctx, pool, l.Tenant); err != nil {
		return err
	}
	found, err := l.List(ctx, pool, "")
	if err != nil {
		return err
	}
	return l.PrintList(out, found)
}

// List returns the dead letters in the database of a service, the oldest first.
func (l *ListDeadLetters) List(ctx context.Context, pool *pg.Pool, service string) ([]ListedDeadLetter, error) {
	letters, all := outbox.NewDeadLetters(pool), []ListedDeadLetter{}
	for last := int64(0); ; {
		found, err := letters.List(tenantContext(ctx, l.Tenant), last, listPage)
		if err != nil {
			return nil, err
		}
		for _, letter := range found {
			last = letter.ID
			all = append(all, ListedDeadLetter{
				service, letter.ID, letter.Message.Tenant, letter.Consumer, letter.Message.Event, letter.Message.Published.UTC(), letter.Reason,
			})
		}
		if len(found) < listPage {
			return all, nil
		}
	}
}

// PrintList prints one line for each dead letter, and their number.
func (l *ListDeadLetters) PrintList(out io.Writer, all []ListedDeadLetter) error {
	err := l.Print(out, all, func(table io.Writer) {
		for _, letter := range all {
			if letter.Service != "" {
				fmt.Fprintf(table, "%s\t", letter.Service)
			}
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

// ReplayDeadLetters is the command deadletter replay.
type ReplayDeadLetters struct {
	boot.Output
	IDs    []int64 `arg:"" optional:"" name:"id" help:"The numbers of the letters in the output of list; the default is all."`
	Tenant int64   `help:"Only the dead letters of one tenant; 0 means all." default:"0"`

	database *pg.Config `kong:"-"`
}

// Do marks the dead letters for replay in the database. The running service handles them within
// seconds. Letters that fail again stay, with the new reason.
func (r *ReplayDeadLetters) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	pool, err := pg.Open(ctx, *r.database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := requireTenantData(ctx, pool, r.Tenant); err != nil {
		return err
	}
	n, err := r.Request(ctx, pool)
	if err != nil {
		return err
	}
	return r.PrintNumber(out, n)
}

// Request marks the dead letters in the database of a service for replay, and returns their number.
// If ids are given, at least one of them must exist.
func (r *ReplayDeadLetters) Request(ctx context.Context, pool *pg.Pool) (n int, err error) {
	ids := append([]int64{}, r.IDs...)
	tenants := []int64{r.Tenant}
	if r.Tenant == 0 {
		if tenants, err = outbox.NewDeadLetters(pool).Tenants(tenant.All(ctx)); err != nil {
			return 0, err
		}
	}
	for _, tenantID := range tenants {
		requested, err := requestReplay(tenant.With(ctx, tenantID), pool, ids)
		if err != nil {
			return n, fmt.Errorf("replay dead letters: %w", err)
		}
		n += requested
	}
	if n == 0 && len(ids) > 0 {
		return 0, errors.New("there are no dead letters with these numbers")
	}
	return n, nil
}

// PrintNumber prints how many dead letters are marked.
func (r *ReplayDeadLetters) PrintNumber(out io.Writer, n int) error {
	return r.PrintLine(out, map[string]any{"replayed": n}, "%d dead letters will be retried within seconds; list shows those that fail again", n)
}

// requestReplay requests the replay of letters of a tenant, and returns their number.
func requestReplay(ctx context.Context, pool *pg.Pool, ids []int64) (n int, err error) {
	err = pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		found, err := outbox.NewDeadLetters(tx).RequestReplay(ctx, ids)
		if n = len(found); err != nil || n == 0 {
			return err
		}
		letters := make([]string, n)
		for i, id := range found {
			letters[i] = strconv.FormatInt(id, 10)
		}
		return audit.Operated(ctx, tx, clock.System{}.Now(), "deadletter replay", letters...)
	})
	return n, err
}

// tenantContext returns a context for the dead letters of a tenant, or of all tenants if id is
// 0.
func tenantContext(ctx context.Context, id int64) context.Context {
	if id > 0 {
		return tenant.With(ctx, id)
	}
	return tenant.All(ctx)
}
