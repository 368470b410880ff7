// Package reference holds what clients of the reference product send and read: the
// properties of requests and responses, their types, which of them are required, and
// the values of enumerations. The data is written by us, as facts about the wire.
package reference

import "embed"

// FS holds the files, one for each domain.
//
//go:embed *.yaml
var FS embed.FS
