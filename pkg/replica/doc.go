// Package replica keeps copies of states that another domain owns.
//
// The contract of an event names its key, its version, its owner and its topic
// (rotaloom.options.v1.Replication). A service that keeps a copy declares a [Copy]: how to change
// its own tables. The service that owns the states declares a [Topic]: which states exist, and how
// to publish them. This package does the rest. It accepts a state if it is newer than the known
// one. It compares each copy with its owner, and records missing states as gaps. It asks the owner
// for gaps until they are closed: the owner publishes the states again, as ordinary events. The
// owner publishes states that it no longer has as deleted.
//
// So events may arrive in any order, repeatedly, or not at all.
package replica

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations returns the tables of this package: the known versions and the gaps. Every service
// that keeps copies applies them next to its own.
func Migrations() (pg.Migrations, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return pg.Migrations{}, fmt.Errorf("replica: %w", err)
	}
	return pg.Migrations{Table: "replica_version", FS: files}, nil
}
