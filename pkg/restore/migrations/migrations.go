// Package migrations holds the tables of restore.
package migrations

import "embed"

// FS holds the migrations, applied in the order of their names.
//
//go:embed *.sql
var FS embed.FS
