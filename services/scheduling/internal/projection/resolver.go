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

// Codes of the specified API.
const (
	// codeEmployeeUnknown (400): there is no such employee, or the caller does not see them.
	codeEmployeeUnknown = "WFS-103401"
	// codeEmployeeMissing (400): an employee is not named.
	codeEmployeeMissing = "WFS-103407"
	// codeOneCriterion (400): an object is named in none or in several ways. Name it by exactly one of id, qualifier and the others.
	codeOneCriterion = "WFS-111207"
)

// maxPerCall bounds how many objects one call asks another service for.
const maxPerCall = 1000

// Employee is a person as scheduling knows them.
type Employee struct {
	ID           int64
	PersonNumber string
	FullName     string
	// Zone is where the employee's wall-clock times are.
	Zone *civil.Zone
	// Jobs are the primary jobs, ascending by their days.
	Jobs []Job
}

// Job is the primary job of an employee on some days.
type Job struct {
	Days civil.Range
	Path string
}

// JobOn returns the path of the primary job on a day, or "", as nobody has.
func (e *Employee) JobOn(day civil.Date) string {
	if e == nil {
		return ""
	}
	for _, j := range e.Jobs {
		if j.Days.Contains(day) {
			return j.Path
		}
	}
	return ""
}

// Resolver finds the employees that requests name. Those who are not known here are asked
// of commons, and kept: a caller may name a person whom it created a moment ago, before the
// event of it has arrived.
//
// It must not be used inside a transaction.
type Resolver struct {
	pool    *pg.Pool
	persons commonsv1.PersonServiceClient
	rules   *rowvisibility.Rules
	zones   civil.Zones
	copies  *Copies
}

// NewResolver returns a resolver. The client calls commons; the connection under it hands
// on the tenant of the context. The rules say which employees callers may see; the others
// are as good as unknown.
func NewResolver(pool *pg.Pool, persons commonsv1.PersonServiceClient, rules *rowvisibility.Rules) *Resolver {
	return &Resolver{pool: pool, persons: persons, rules: rules, copies: NewCopies(pool, nil)}
}

// lookupKeys is what a list of refs asks for: either the id or the key of each, at
// the positions where they stand. The id of a ref wins over its qualifier.
type lookupKeys struct {
	ids          []int64
	idPositions  []int32
	keys         []string
	keyPositions []int32
	// ambiguousIDs are objects that seem to share a key. At least one of them has
	// changed since it was last heard of.
	ambiguousIDs []int64
}

func (w *lookupKeys) addID(id int64, position int) {
	w.ids, w.idPositions = append(w.ids, id), append(w.idPositions, int32(position))
}

func (w *lookupKeys) addKey(key string, position int) {
	w.keys, w.keyPositions = append(w.keys, key), append(w.keyPositions, int32(position))
}

// nowhere is the position of an id that is not wanted.
const nowhere = -1

// inRange returns the least id and the position of each id from there on, when what is
// wanted are different ids that lie close together; else no positions.
func (w *lookupKeys) inRange() (least int64, positions []int32) {
	least, greatest, dense := condition.Dense(w.ids)
	if !dense || len(w.keys) > 0 {
		return 0, nil
	}
	positions = slices.Repeat([]int32{nowhere}, int(greatest-least)+1)
	for i, id := range w.ids {
		if positions[id-least] != nowhere {
			return 0, nil // It is wanted twice.
		}
		positions[id-least] = w.idPositions[i]
	}
	return least, positions
}

func (w *lookupKeys) empty() bool { return len(w.ids) == 0 && len(w.keys) == 0 }

// add notes a ref and reports whether it names anything.
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

// missing returns the part of w for which there is not exactly one match at
// its position.
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

// first describes one ref that w asks for, for people.
func (w *lookupKeys) first() string {
	if len(w.ids) > 0 {
		return fmt.Sprintf("id %d", w.ids[0])
	}
	return fmt.Sprintf("%q", shortened(w.keys[0]))
}

const copies pg.Unaudited = "a copy of what its owner has written already"

// fetch asks another service for what is missing, by parts that are small enough
// for one call, and keeps what it returns.
func fetch[S any](ctx context.Context, pool *pg.Pool, missing lookupKeys,
	ask func(ids []int64, keys []string) ([]S, error), keep func(ctx context.Context, tx pgx.Tx, states []S) error,
) error {
	var states []S
	ids, keys := slices.Concat(missing.ids, missing.ambiguousIDs), missing.keys
	for len(ids) > 0 || len(keys) > 0 {
		i := min(len(ids), maxPerCall)
		k := min(len(keys), maxPerCall-i)
		response, err := ask(ids[:i], keys[:k])
		if err != nil {
			return err
		}
		states = append(states, response...)
		ids, keys = ids[i:], keys[k:]
	}
	if len(states) == 0 {
		return nil
	}
	return copies.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error { return keep(ctx, tx, states) })
}

// shortened keeps an error from repeating a long text.
func shortened(text string) string {
	const limit = 100
	runes := []rune(text[:min(len(text), 4*limit)])
	return string(runes[:min(len(runes), limit)])
}

func unknownEmployee(w *lookupKeys) *fault.Error {
	return fault.Newf(codeEmployeeUnknown, http.StatusBadRequest, "Employee not found: %s.", w.first())
}
