package hyperfind

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// namedUsers is the maximum number of persons in an error.
const namedUsers = 3

// GroupUsers finds and renames the public queries that persons name as their employee groups.
type GroupUsers struct {
	// Rename writes a new name into the persons with a former name.
	Rename func(ctx context.Context, tx pgx.Tx, from, to string) error
	// Find returns the numbers of the first persons with a name.
	Find func(ctx context.Context, tx pgx.Tx, name string, limit int) ([]string, error)
}

// follow writes the new name of a query into the persons whose employee group it is. A query that stops
// being public must not be one.
func (g GroupUsers) follow(ctx context.Context, tx pgx.Tx, old, fresh *storedQuery) error {
	if old.public && !fresh.public {
		return g.checkUnused(ctx, tx, old)
	}
	if !old.public || old.GetName() == fresh.GetName() {
		return nil
	}
	if strings.Contains(fresh.GetName(), "/") { // Employee groups with a slash are paths.
		return g.checkUnused(ctx, tx, old)
	}
	return g.Rename(ctx, tx, old.GetName(), fresh.GetName())
}

// checkUnused returns an error if a public query is the employee group of persons.
func (g GroupUsers) checkUnused(ctx context.Context, tx pgx.Tx, q *storedQuery) error {
	if !q.public {
		return nil
	}
	numbers, err := g.Find(ctx, tx, q.GetName(), namedUsers)
	if err != nil || len(numbers) == 0 {
		return err
	}
	for i, number := range numbers {
		numbers[i] = strconv.Quote(number)
	}
	return fault.Invalid(CodeInUse, fmt.Sprintf(
		"The hyperfind query %q is the employee group of persons, such as %s. Give them another one first.", q.GetName(), strings.Join(numbers, ", ")))
}
