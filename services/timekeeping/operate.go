package timekeeping

import (
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Copies are what timekeeping keeps of other domains.
func Copies(pool *pg.Pool) []*replica.Replica { return []*replica.Replica{person.NewCopy(pool)} }

// Topics are what timekeeping owns, and others keep copies of.
func Topics() []replica.Topic { return []replica.Topic{leaveedit.Topic()} }
