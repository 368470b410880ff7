// Package reference describes the requests and responses of the reference product: their
// properties, types and required properties, and the values of enumerations. We wrote the data
// ourselves, as facts about the wire format.
package reference

import "embed"

// FS holds the files, one for each domain.
//
//go:embed *.yaml
var FS embed.FS
