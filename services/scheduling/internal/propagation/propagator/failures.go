package propagator

import (
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// failures maps employees to the error codes of their failed updates.
type failures map[int64]string

// failureCode returns the error code for callers.
func failureCode(err error) string {
	var pgErr *pgconn.PgError
	switch {
	case errors.Is(err, span.ErrTooManyLayers):
		return propagation.CodeLayers
	case pgerr.TimedOut(err):
		return propagation.CodeSlow
	case errors.As(err, &pgErr):
		return propagation.CodeRefused
	default:
		return propagation.CodeInternal
	}
}

// collectFailures returns the employees whose spans could not be computed.
func collectFailures(done *reconcile.Changes) failures {
	f := failures{}
	for i, employee := range done.Failed {
		f[employee] = failureCode(done.Failures[i])
	}
	return f
}

// merge returns the failures together with others. If both contain an employee, f wins.
func (f failures) merge(others failures) failures {
	all := maps.Clone(others)
	if all == nil {
		return f
	}
	maps.Copy(all, f)
	return all
}

// columns returns the failures of the given employees as database columns, in the order of the
// employees.
func (f failures) columns(employees []int64) (ids []int64, codes []string) {
	ids, codes = []int64{}, []string{}
	for _, id := range employees {
		if code := f[id]; code != "" {
			ids, codes = append(ids, id), append(codes, code)
		}
	}
	return ids, codes
}

// text returns the error text of a propagation with these failures.
func (f failures) text() string {
	codes := slices.Compact(slices.Sorted(maps.Values(f)))
	if len(codes) == 1 && codes[0] == propagation.CodeLayers {
		return textLayers
	}
	return textFailed
}
