package restore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const (
	// leapSteps is the number of values that a sequence skips if it is unknown which of them were
	// given and lost.
	leapSteps = 1 << 20
	// leapShare bounds a leap to a fraction of the sequence's values, so that 512 leaps fit.
	leapShare = 512
	// smallLeap divides a leap that covers only the last seconds.
	smallLeap = 16
)

// limits are the limits of a sequence.
type limits struct {
	name                string
	start, lowest, most int64
	increment           int64
	last                *int64
}

const selectLimits = `SELECT sequencename::text, start_value, min_value, max_value, increment_by, last_value
FROM pg_sequences WHERE schemaname = current_schema() ORDER BY sequencename`

// Exhausted is the error of a sequence without free values above its watermarks.
type Exhausted struct{ Sequence string }

func (e *Exhausted) Error() string {
	return fmt.Sprintf("the sequence %s has no unused values left: raise its MAXVALUE", e.Sequence)
}

// raisedValue returns the new value of a sequence: its next value is above the watermark, and above all
// values that may have been given after the watermark.
func (l limits) raisedValue(watermark int64, small bool) (int64, error) {
	steps := min(leapSteps, max((l.most-l.lowest)/l.increment/leapShare, 1))
	if small {
		steps = max(steps/smallLeap, 1)
	}
	from := max(l.start-l.increment, watermark)
	if l.last != nil {
		from = max(from, *l.last)
	}
	// A watermark from another increment must not shift the values.
	if off := (from - l.start) % l.increment; off > 0 {
		from += l.increment - off
	}
	if from > l.most-(steps+1)*l.increment {
		return 0, &Exhausted{l.name}
	}
	return from + steps*l.increment, nil
}

// raiseSequences raises all sequences of a database above watermarks. The values are durable once tx has
// committed; they stay raised even if it does not commit.
func raiseSequences(ctx context.Context, tx pgx.Tx, watermarks Watermarks, small bool) error {
	rows, err := tx.Query(ctx, selectLimits)
	if err != nil {
		return fmt.Errorf("restore: read sequences: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l limits, err error) {
		return l, row.Scan(&l.name, &l.start, &l.lowest, &l.most, &l.increment, &l.last)
	})
	if err != nil {
		return fmt.Errorf("restore: read sequences: %w", err)
	}
	for _, l := range all {
		if l.increment < 0 {
			return fmt.Errorf("restore: the sequence %s counts down, which is not supported", l.name)
		}
		value, err := l.raisedValue(watermarks.Sequences[l.name], small)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `SELECT setval(quote_ident($1)::regclass, $2, true)`, l.name, value); err != nil {
			return fmt.Errorf("restore: raise the sequence %s: %w", l.name, err)
		}
	}
	return nil
}
