package timekeeping

import (
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employmentterm"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/membership"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Copies are what timekeeping keeps of other domains.
func Copies(pool *pg.Pool) []*replica.Replica { return []*replica.Replica{person.NewCopy(pool, nil)} }

// Topics are what timekeeping owns, and others keep copies of.
func Topics() []replica.Topic {
	return []replica.Topic{employmentterm.Topic(), membership.Topic(), leaveedit.Topic()}
}
