package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Database is the state of a service's database for operators' commands.
type Database struct {
	Service string
	Pool    *pg.Pool
	// Restored means that the database went back in time, or may have; Reason is the reason for
	// that conclusion.
	Restored bool
	Reason   string
	// Watermarks are the database's own watermarks, and Known the highest watermarks of it that any database of
	// the installation knows.
	Watermarks, Known Watermarks
	// Witnesses are the watermarks of services that the database has stored.
	Witnesses map[string]Watermarks
}

// Inspect reads the watermarks of the databases of an installation, and finds the restored ones.
func Inspect(ctx context.Context, pools map[string]*pg.Pool) ([]*Database, error) {
	var all []*Database
	known := map[string]Watermarks{}
	for service, pool := range pools {
		has, err := readSnapshot(tenant.All(ctx), pool)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", service, err)
		}
		d := &Database{Service: service, Pool: pool, Restored: has.restored, Reason: has.reason, Watermarks: has.watermarks}
		if d.Witnesses, err = ReadWitnesses(tenant.All(ctx), pool); err != nil {
			return nil, fmt.Errorf("%s: %w", service, err)
		}
		if !d.Restored && has.recordedPlace != "" && (has.recordedPlace != has.place || has.recordedTimeline != has.timeline) {
			d.Restored, d.Reason = true, "the database is a copy or was recovered, and no program has opened it since"
		}
		for of, watermarks := range d.Witnesses {
			merged := known[of]
			merged.Merge(watermarks)
			known[of] = merged
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b *Database) int { return strings.Compare(a.Service, b.Service) })
	for _, d := range all {
		d.Known = d.Watermarks.Clone()
		d.Known.Merge(known[d.Service])
		if above := d.Known.Lost(d.Watermarks); len(above) > 0 && !d.Restored {
			d.Restored, d.Reason = true, lostReason(above)
		}
	}
	return all, nil
}

const (
	// Progress leaps too: the broker may know slightly higher watermarks than the databases.
	finishState = `UPDATE restore_state SET progress = greatest(progress, $1) + $2, restored_at = NULL, reason = '',
    place = $3, timeline = $4, finished_at = clock_timestamp(), report = $5`
	progressLeap = 1 << 20
)

// Finish raises every sequence of a database above every known watermark, and lets the database accept
// writes again. It stores the report. record must write the audit row in the same transaction.
// Repeating Finish is harmless: it skips more ids.
func Finish(ctx context.Context, d *Database, report string, record func(ctx context.Context, tx pgx.Tx) error) error {
	return unaudited.InTx(tenant.All(ctx), d.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, commitDurably); err != nil {
			return err
		}
		has, err := readSnapshot(ctx, tx)
		if err != nil {
			return err
		}
		if err := raiseSequences(ctx, tx, d.Known, false); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, finishState, d.Known.Progress, int64(progressLeap), has.place, has.timeline, report); err != nil {
			return fmt.Errorf("restore: finish: %w", err)
		}
		return record(ctx, tx)
	})
}

// Refuse makes a database refuse writes until its restore is finished. known are earlier watermarks of
// the database.
func Refuse(ctx context.Context, service string, pool *pg.Pool, reason string, known Watermarks) error {
	return unaudited.InTx(tenant.All(ctx), pool, func(ctx context.Context, tx pgx.Tx) error {
		return refuseWrites(ctx, tx, service, reason, known)
	})
}

// ReadWatermarks returns all watermarks that a service's database knows: its own, and those of other
// databases.
func ReadWatermarks(ctx context.Context, db pg.Querier, service string) (map[string]Watermarks, error) {
	known, err := ReadWitnesses(ctx, db)
	if err != nil {
		return nil, err
	}
	own := known[service]
	sequences, err := readSequences(ctx, db)
	if err != nil {
		return nil, err
	}
	var progress int64
	if err := db.QueryRow(ctx, `SELECT progress FROM restore_state`).Scan(&progress); err != nil {
		return nil, fmt.Errorf("restore: read progress: %w", err)
	}
	own.Merge(Watermarks{progress, sequences})
	known[service] = own
	return known, nil
}

// Reason returns the reason why a database refuses writes, or "" if it accepts them.
func Reason(ctx context.Context, db pg.Querier) (reason string, err error) {
	err = db.QueryRow(ctx, `SELECT CASE WHEN restored_at IS NOT NULL THEN reason ELSE '' END FROM restore_state`).Scan(&reason)
	if err != nil {
		return "", fmt.Errorf("restore: read the state of the database: %w", err)
	}
	return reason, nil
}
