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

// failures holds, by employee, the code of the error for which a schedule could not be
// brought up to date.
type failures map[int64]string

// codeOf returns the code that callers see of an error.
func codeOf(err error) string {
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

// failuresOf returns the employees whose spans cannot be computed.
func failuresOf(done *reconcile.Changes) failures {
	f := failures{}
	for i, employee := range done.Failed {
		f[employee] = codeOf(done.Failures[i])
	}
	return f
}

// with returns the failures together with others, which do not replace them.
func (f failures) with(others failures) failures {
	all := maps.Clone(others)
	if all == nil {
		return f
	}
	maps.Copy(all, f)
	return all
}

// columns returns the failures of some employees as the database takes them, in the order
// of the employees.
func (f failures) columns(employees []int64) (ids []int64, codes []string) {
	ids, codes = []int64{}, []string{}
	for _, id := range employees {
		if code := f[id]; code != "" {
			ids, codes = append(ids, id), append(codes, code)
		}
	}
	return ids, codes
}

// text returns what a propagation with these failures says.
func (f failures) text() string {
	codes := slices.Compact(slices.Sorted(maps.Values(f)))
	if len(codes) == 1 && codes[0] == propagation.CodeLayers {
		return textLayers
	}
	return textFailed
}
