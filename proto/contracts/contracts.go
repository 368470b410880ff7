// Package contracts links every contract into a program that needs to know
// them all: which permissions there are, which events, which routes.
package contracts

import (
	// Each registers its descriptors.
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/audit/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/replication/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
)
