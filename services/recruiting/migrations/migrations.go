// Package migrations holds the schema of the recruiting database.
package migrations

import "embed"

// FS holds the migrations, applied in the order of their names.
//
//go:embed *.sql
var FS embed.FS
