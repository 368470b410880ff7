package timekeeping

import (
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Copies are what timekeeping keeps of other domains.
func Copies(pool *pg.Pool) []*replica.Replica { return []*replica.Replica{person.NewCopy(pool)} }
