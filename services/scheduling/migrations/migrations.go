// Package migrations contains the schema of the scheduling database.
package migrations

import "embed"

// FS has the migrations, applied in the order of their names.
//
//go:embed *.sql
var FS embed.FS
