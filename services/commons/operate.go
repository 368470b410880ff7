package commons

import (
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/services/commons/internal/devicegroup"
	"github.com/rotaloom/rotaloom/services/commons/internal/holiday"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/search"
	"github.com/rotaloom/rotaloom/services/commons/internal/signoff"
)

// Copies returns the copies of other domains' data in commons.
func Copies(pool *pg.Pool) []*replica.Replica {
	return append(search.Replicas(pool, store.DeleteTermRequests), devicegroup.NewCopy(pool), signoff.NewCopy(pool))
}

// Topics returns the data of commons that other services copy.
func Topics() []replica.Topic { return []replica.Topic{store.Topic(), holiday.Topic()} }
