package commons

import (
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/services/commons/internal/holiday"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/search"
)

// Copies are what commons keeps of other domains.
func Copies(pool *pg.Pool) []*replica.Replica {
	return search.Replicas(pool, store.DeleteTermRequests)
}

// Topics are what commons owns, and others keep copies of.
func Topics() []replica.Topic { return []replica.Topic{store.Topic(), holiday.Topic()} }
