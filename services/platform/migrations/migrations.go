// Package migrations contains the schema of the platform database.
package migrations

import "embed"

// FS contains the migrations, which are applied in the order of their names.
//
//go:embed *.sql
var FS embed.FS
