// Package restore prevents databases that were restored to an earlier state from giving ids twice.
//
// Each database has *watermarks*: the last value of each of its sequences, and a counter of progress. A
// [Guard] publishes the watermarks of its database to a bucket of the broker, and stores the watermarks of
// the other databases as a witness. If the bucket or a witness knows a higher watermark than the
// database has, the database went back in time: it counts as *restored*, and the guard refuses
// writes until an operator has finished the restore. Finishing raises every sequence above every
// known watermark.
package restore

import (
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/restore/migrations"
)

// Migrations returns the tables of this package. A service applies them before all others: the
// first migration records whether the database is new.
func Migrations() pg.Migrations {
	return pg.Migrations{Table: "restore_version", FS: migrations.FS}
}
