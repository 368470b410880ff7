package projection

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/condition"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Error codes of the specification.
const (
	// codeEmployeeUnknown (400): there is no such employee, or the caller does not see them.
	codeEmployeeUnknown = "WFS-103401"
	// codeEmployeeMissing (400): a reference to an employee is missing.
	codeEmployeeMissing = "WFS-103407"
	// codeOneCriterion (400): an object is identified in no way or in several ways. Name it by
	// exactly one of id, qualifier and the others.
	codeOneCriterion = "WFS-111207"
)

// maxPerCall limits the objects in one call to another service.
const maxPerCall = 1000

// Employee is a person with the data that scheduling needs.
type Employee struct {
	ID           int64
	PersonNumber string
	FullName     string
	// Zone is the time zone of the employee's wall-clock times.
	Zone *civil.Zone
	// Jobs are the primary jobs, in order of their days.
	Jobs []Job
}

// Job is the primary job of an employee on a range of days.
type Job struct {
	Days civil.Range
	Path string
	// LocationID is the id of the location with the path, or 0.
	LocationID int64
	// OtherPaths name the same location on the days.
	OtherPaths []string
}

// JobOn returns the path of the primary job on a day, or "". A nil employee has none.
func (e *Employee) JobOn(day civil.Date) string { return e.PrimaryJobOn(day).Path }

// PrimaryJobOn returns the primary job on a day, or the zero Job. A nil employee has none.
func (e *Employee) PrimaryJobOn(day civil.Date) Job {
	if e == nil {
		return Job{}
	}
	for _, j := range e.Jobs {
		if j.Days.Contains(day) {
			return j
		}
	}
	return Job{}
}

// Resolver finds the employees of requests. It asks commons for employees who are unknown here, and
// stores them: a caller may name a person created moments ago whose event has not arrived yet.
//
// Do not use it inside a transaction.
type Resolver struct {
	pool    *pg.Pool
	persons commonsv1.PersonServiceClient
	rules   *rowvisibility.Rules
	zones   civil.Zones
	copies  *Copies
}

// NewResolver returns a resolver. The client calls commons; its connection passes on the tenant of
// the context. The rules define the employees that callers may see; all others count as unknown.
func NewResolver(pool *pg.Pool, persons commonsv1.PersonServiceClient, rules *rowvisibility.Rules) *Resolver {
	return &Resolver{pool: pool, persons: persons, rules: rules, copies: NewCopies(pool, nil)}
}

// lookupKeys are the ids and keys of a list of references, with their positions. The id of a
// reference takes precedence over its qualifier.
type lookupKeys struct {
	ids          []int64
	idPositions  []int32
	keys         []string
	keyPositions []int32
	// ambiguousIDs are objects that seem to share a key. At least one of them is outdated.
	ambiguousIDs []int64
}

func (w *lookupKeys) addID(id int64, position int) {
	w.ids, w.idPositions = append(w.ids, id), append(w.idPositions, int32(position))
}

func (w *lookupKeys) addKey(key string, position int) {
	w.keys, w.keyPositions = append(w.keys, key), append(w.keyPositions, int32(position))
}

// noPosition is the position of an id that was not requested.
const noPosition = -1

// inRange returns the smallest id and the position of each id from there on, if the request
// consists of distinct ids that are close together. Otherwise it returns no positions.
func (w *lookupKeys) inRange() (least int64, positions []int32) {
	least, greatest, dense := condition.Dense(w.ids)
	if !dense || len(w.keys) > 0 {
		return 0, nil
	}
	positions = slices.Repeat([]int32{noPosition}, int(greatest-least)+1)
	for i, id := range w.ids {
		if positions[id-least] != noPosition {
			return 0, nil // It was requested twice.
		}
		positions[id-least] = w.idPositions[i]
	}
	return least, positions
}

func (w *lookupKeys) empty() bool { return len(w.ids) == 0 && len(w.keys) == 0 }

// add adds a reference, and reports whether it has an id or a qualifier.
func (w *lookupKeys) add(ref *commonv1.Ref, position int) bool {
	switch {
	case ref != nil && ref.Id != nil:
		w.addID(ref.GetId(), position)
	case ref.GetQualifier() != "":
		w.addKey(ref.GetQualifier(), position)
	default:
		return false
	}
	return true
}

// missing returns the keys of w that do not have exactly one match at their position.
func (w *lookupKeys) missing(matches []int, suspects []int64) lookupKeys {
	rest := lookupKeys{ambiguousIDs: suspects}
	for i, position := range w.idPositions {
		if matches[position] != 1 {
			rest.addID(w.ids[i], int(position))
		}
	}
	for i, position := range w.keyPositions {
		if matches[position] != 1 {
			rest.addKey(w.keys[i], int(position))
		}
	}
	return rest
}

// first describes the first key of w for messages.
func (w *lookupKeys) first() string {
	if len(w.ids) > 0 {
		return fmt.Sprintf("id %d", w.ids[0])
	}
	return fmt.Sprintf("%q", truncate(w.keys[0]))
}

const copies pg.Unaudited = "a copy of data that its owner has already audited"

// fetch requests missing objects from another service in parts that fit into one call, and stores
// the response.
func fetch[S any](ctx context.Context, pool *pg.Pool, missing lookupKeys,
	request func(ids []int64, keys []string) ([]S, error), store func(ctx context.Context, tx pgx.Tx, states []S) error,
) error {
	var states []S
	ids, keys := slices.Concat(missing.ids, missing.ambiguousIDs), missing.keys
	for len(ids) > 0 || len(keys) > 0 {
		i := min(len(ids), maxPerCall)
		k := min(len(keys), maxPerCall-i)
		response, err := request(ids[:i], keys[:k])
		if err != nil {
			return err
		}
		states = append(states, response...)
		ids, keys = ids[i:], keys[k:]
	}
	if len(states) == 0 {
		return nil
	}
	return copies.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error { return store(ctx, tx, states) })
}

// truncate truncates a text, so that an error does not repeat a long text.
func truncate(text string) string {
	const limit = 100
	runes := []rune(text[:min(len(text), 4*limit)])
	return string(runes[:min(len(runes), limit)])
}

// UnknownEmployee returns the error for a reference to an employee whom the caller does not see on some
// days. It does not differ from the error for an unknown employee.
func UnknownEmployee(ref *commonv1.Ref) error {
	var w lookupKeys
	w.add(ref, 0)
	return unknownEmployee(&w)
}

func unknownEmployee(w *lookupKeys) *fault.Error {
	return fault.Newf(codeEmployeeUnknown, http.StatusBadRequest, "Employee not found: %s.", w.first())
}
