// Package cases holds the contract cases: one folder for each domain and
// resource, one file for each case.
package cases

import "embed"

// FS holds every case.
//
//go:embed *
var FS embed.FS
