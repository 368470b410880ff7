// Package migrations holds the table of audit events.
package migrations

import "embed"

// FS holds the migrations, applied in the order of their names.
//
//go:embed *.sql
var FS embed.FS
