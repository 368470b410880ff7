package restore

import (
	"context"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// snapshot is the state that a database stores about itself.
type snapshot struct {
	watermarks Watermarks
	// place and timeline are the current location of the database; the recorded ones are its
	// location when it was last opened.
	place, timeline                 string
	recordedPlace, recordedTimeline string
	fresh                           bool
	restored                        bool
	reason                          string
}

const (
	// A database never reuses the OID of a table, so a dump that is loaded again has another OID.
	whereItIs = `(SELECT system_identifier FROM pg_control_system())::text || '/' ||
        (SELECT oid FROM pg_database WHERE datname = current_database())::text || '/' || 'restore_state'::regclass::oid::text,
    left(pg_walfile_name(pg_current_wal_lsn()), 8)`
	selectState = `SELECT progress, fresh, place, timeline, restored_at IS NOT NULL, reason,
    ` + whereItIs + `
FROM restore_state`
	selectPlace = `SELECT ` + whereItIs + ``
	// A sequence that has given no value yet has the watermark 0.
	selectSequences = `SELECT sequencename::text, coalesce(last_value, 0) FROM pg_sequences WHERE schemaname = current_schema()`

	// Values that were read before this statement are durable once the transaction has committed:
	// the log is flushed up to the commit, and the records of the sequences precede it.
	countProgress = `UPDATE restore_state SET progress = progress + 1 RETURNING progress`
	commitDurably = `SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`

	recordPlace  = `UPDATE restore_state SET place = $1, timeline = $2`
	markRestored = `UPDATE restore_state SET restored_at = clock_timestamp(), reason = $1 WHERE restored_at IS NULL`

	storeWitness = `INSERT INTO restore_witness AS w (service, name, mark)
SELECT $1, name, mark FROM unnest($2::text[], $3::bigint[]) AS m (name, mark)
ON CONFLICT (service, name) DO UPDATE SET mark = excluded.mark WHERE excluded.mark > w.mark`
	selectWitnesses = `SELECT service, name, mark FROM restore_witness`
)

// unaudited is for the writes of this package.
const unaudited pg.Unaudited = "watermarks follow from other writes, not from a request"

// readSnapshot reads the state of a database.
func readSnapshot(ctx context.Context, db pg.Querier) (s snapshot, err error) {
	err = db.QueryRow(ctx, selectState).Scan(&s.watermarks.Progress, &s.fresh, &s.recordedPlace, &s.recordedTimeline, &s.restored, &s.reason,
		&s.place, &s.timeline)
	if err != nil {
		return s, fmt.Errorf("restore: read the state of the database: %w", err)
	}
	s.watermarks.Sequences, err = readSequences(ctx, db)
	return s, err
}

func readSequences(ctx context.Context, db pg.Querier) (map[string]int64, error) {
	rows, err := db.Query(ctx, selectSequences)
	if err != nil {
		return nil, fmt.Errorf("restore: read sequences: %w", err)
	}
	sequences := map[string]int64{}
	var name string
	var last int64
	if _, err := pgx.ForEachRow(rows, []any{&name, &last}, func() error {
		sequences[name] = last
		return nil
	}); err != nil {
		return nil, fmt.Errorf("restore: read sequences: %w", err)
	}
	return sequences, nil
}

// ReadWitnesses returns the watermarks of all services that a database has stored as a witness.
func ReadWitnesses(ctx context.Context, db pg.Querier) (map[string]Watermarks, error) {
	rows, err := db.Query(ctx, selectWitnesses)
	if err != nil {
		return nil, fmt.Errorf("restore: read witnesses: %w", err)
	}
	found := map[string]Watermarks{}
	var service, name string
	var watermark int64
	if _, err := pgx.ForEachRow(rows, []any{&service, &name, &watermark}, func() error {
		one := Watermarks{Sequences: map[string]int64{name: watermark}}
		if name == "" {
			one = Watermarks{Progress: watermark}
		}
		known := found[service]
		known.Merge(one)
		found[service] = known
		return nil
	}); err != nil {
		return nil, fmt.Errorf("restore: read witnesses: %w", err)
	}
	return found, nil
}

// StoreWitness raises the watermarks of a service in a database.
func StoreWitness(ctx context.Context, tx pgx.Tx, service string, watermarks Watermarks) error {
	names, values := []string{""}, []int64{watermarks.Progress}
	for name, watermark := range maps.All(watermarks.Sequences) {
		names, values = append(names, name), append(values, watermark)
	}
	if _, err := tx.Exec(ctx, storeWitness, service, names, values); err != nil {
		return fmt.Errorf("restore: store a witness: %w", err)
	}
	return nil
}

// refuseWrites records that a database was restored, together with the watermarks that prove it.
func refuseWrites(ctx context.Context, tx pgx.Tx, service, reason string, known Watermarks) error {
	if err := StoreWitness(ctx, tx, service, known); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, markRestored, reason); err != nil {
		return fmt.Errorf("restore: refuse writes: %w", err)
	}
	return nil
}
