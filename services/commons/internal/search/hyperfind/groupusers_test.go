package hyperfind

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// noGroups returns the users of queries that are not employee groups.
func noGroups() GroupUsers {
	return GroupUsers{
		Rename: func(context.Context, pgx.Tx, string, string) error { return nil },
		Find:   func(context.Context, pgx.Tx, string, int) ([]string, error) { return nil, nil },
	}
}
