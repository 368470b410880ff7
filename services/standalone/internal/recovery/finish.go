package recovery

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth"
)

// Finish is the command that finishes a restore.
type Finish struct {
	boot.Output
	Installation
	Force bool `help:"Treat all databases as restored, even without evidence. Use it after a copy of the whole state folder or machine was put back."`
}

// finished is the JSON output of the command.
type finished struct {
	Databases []finishedDatabase `json:"databases"`
	// Orphans are lost objects, with the rows that other databases still have.
	Orphans []*Orphan `json:"orphans"`
}

type finishedDatabase struct {
	Service string `json:"service"`
	Reason  string `json:"reason"`
	// Lost counts, by sequence, the ids that were assigned after the restored state.
	Lost map[string]int64 `json:"lostIds,omitempty"`
}

// Do revokes all tokens, prints the losses, raises the sequences of the restored databases above all known
// watermarks, and makes them accept writes again. After an interruption it can be repeated.
func (f *Finish) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	pools, end, err := f.openPools(ctx, log)
	if err != nil {
		return err
	}
	defer end()
	databases, err := restore.Inspect(ctx, pools)
	if err != nil {
		return err
	}
	var restored []*restore.Database
	for _, d := range databases {
		if f.Force && !d.Restored {
			d.Restored, d.Reason = true, "the operator says so"
		}
		if d.Restored {
			restored = append(restored, d)
		}
	}
	if len(restored) == 0 {
		return f.Print(out, finished{Databases: []finishedDatabase{}, Orphans: []*Orphan{}}, func(table io.Writer) {
			fmt.Fprintln(table, "no database was restored, so there is nothing to finish")
		})
	}
	tenants, err := auth.TenantIDs(ctx, pools["auth"])
	if err != nil {
		return err
	}
	if err := auth.EndAllTokens(ctx, pools["auth"], tenants); err != nil {
		return err
	}
	// Collect the orphans before the programs compare their copies, because that removes them.
	done := finished{}
	if done.Orphans, err = FindOrphans(ctx, pools, tenants); err != nil {
		return err
	}
	for _, d := range restored {
		done.Databases = append(done.Databases, finishedDatabase{d.Service, d.Reason, lostIDs(d)})
	}
	if err := f.Print(out, done, done.table); err != nil {
		return err
	}
	report := &strings.Builder{}
	done.table(report)
	if err := finishAll(ctx, pools, restored, report.String(), tenants); err != nil {
		return err
	}
	// Wait for the next second, because tokens from the current second are refused too.
	if err := backoff.Sleep(ctx, time.Second); err != nil {
		return err
	}
	if f.JSON() {
		return nil
	}
	_, err = fmt.Fprintln(out, "finished: writes are accepted again within seconds, and all users must log in again")
	return err
}

// finishAll makes the restored databases accept writes again. If scheduling or timekeeping was restored, it
// schedules another handover of timekeeping's decisions about schedules: before scheduling accepts writes, or
// together with the raised sequences of timekeeping.
func finishAll(ctx context.Context, pools map[string]*pg.Pool, restored []*restore.Database, report string, tenants []int64) error {
	found, err := readScheduled(ctx, pools["scheduling"], tenants)
	if err != nil {
		return err
	}
	restoredServices := map[string]bool{}
	for _, d := range restored {
		restoredServices[d.Service] = true
	}
	if restoredServices["scheduling"] && !restoredServices["timekeeping"] {
		if err := handedOver.InTx(tenant.All(ctx), pools["timekeeping"], func(ctx context.Context, tx pgx.Tx) error {
			return handOver(ctx, tx, found)
		}); err != nil {
			return err
		}
	}
	for _, d := range restored {
		err := restore.Finish(ctx, d, report, func(ctx context.Context, tx pgx.Tx) error {
			if d.Service == "timekeeping" {
				if err := handOver(ctx, tx, found); err != nil {
					return err
				}
			}
			return record(ctx, tx, d.Service, tenants)
		})
		if err != nil {
			return fmt.Errorf("finish the restore of %s: %w", d.Service, err)
		}
	}
	return nil
}

// lostIDs counts the ids that were assigned after the restored state.
func lostIDs(d *restore.Database) map[string]int64 {
	lost := map[string]int64{}
	for _, name := range d.Known.Lost(d.Watermarks) {
		if n := d.Known.Sequences[name] - d.Watermarks.Sequences[name]; n > 0 {
			lost[name] = n
		}
	}
	return lost
}

func (f finished) table(out io.Writer) {
	for _, d := range f.Databases {
		fmt.Fprintf(out, "%s: %s\n", d.Service, d.Reason)
		for name, n := range d.Lost {
			fmt.Fprintf(out, "  %s: up to %d ids were assigned after the restored state\n", name, n)
		}
	}
	for _, o := range f.Orphans {
		fmt.Fprintf(out, "lost: %s\n", o.text())
	}
	fmt.Fprintf(out, "%d objects were lost that other databases still refer to\n", len(f.Orphans))
}

// setTenant sets the tenant for the rest of a transaction.
const setTenant = `SELECT set_config('rotaloom.tenant_id', $1::bigint::text, true)`

// record writes the end of the restore into the audit log of each tenant.
func record(ctx context.Context, tx pgx.Tx, service string, tenants []int64) error {
	var now time.Time
	if err := tx.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return err
	}
	for _, id := range tenants {
		if _, err := tx.Exec(ctx, setTenant, id); err != nil {
			return err
		}
		event := audit.Event{Tenant: id, At: now, Service: "operator", Operation: "restore finish", Objects: []string{service}, Outcome: audit.OK}
		if err := event.Write(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}
