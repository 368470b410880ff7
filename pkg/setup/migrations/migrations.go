// Package migrations holds the tables of references and unique texts.
package migrations

import "embed"

// FS holds the migrations, applied in the order of their names.
//
//go:embed *.sql
var FS embed.FS
