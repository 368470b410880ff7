// Package replica keeps copies of states that another domain owns.
//
// The contract of an event says how: its key, its version, its owner and its
// topic (rotaloom.options.v1.Replication). Who keeps a copy declares a [Copy]:
// how its own tables are changed. Who owns the states declares a [Topic]: what
// there is, and how it is published. The rest is here: a state is taken when it
// is newer than what is known; what a copy lacks is found, by a comparison with
// the owner, and noted as a gap; the owner is asked for gaps until they are
// closed, and publishes the states once more, as the events by which copies are
// kept. What the owner does not have any more it publishes as deleted.
//
// So events may come in any order, repeatedly, or not at all.
package replica

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations are the tables of this package: the versions of what is known, and
// the gaps. Every service that keeps copies applies them beside its own.
func Migrations() (pg.Migrations, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return pg.Migrations{}, fmt.Errorf("replica: %w", err)
	}
	return pg.Migrations{Table: "replica_version", FS: files}, nil
}
