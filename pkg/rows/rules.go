package rows

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

const (
	// freshness is how long a change of a group may go unnoticed.
	freshness = 5 * time.Second
	// askTimeout bounds the question who is in a group.
	askTimeout = 10 * time.Second
)

// Source adds persons to what a caller sees. This is where a grant that is not
// in the token widens it: a running delegation is one more Source, which
// answers the group of whoever delegated to the caller.
type Source interface {
	// Persons answers whom the source shows to a principal beside themselves,
	// in any order. It is asked only for principals with a person who do not
	// see everybody, at most once in some seconds for each.
	Persons(ctx context.Context, p *authn.Principal) ([]int64, error)
}

// Rules tell whom callers may see. The zero Rules, and nil, know no source:
// then everybody but those with the scope All sees only themselves.
type Rules struct {
	sources []Source
	cache   *cache
	flight  singleflight.Group
}

// New makes Rules that ask sources, and remember what they answer for a few
// seconds.
func New(clk clock.Clock, sources ...Source) *Rules {
	return &Rules{sources: sources, cache: newCache(clk)}
}

// Visible answers whom the caller of a context may see. Work that nobody in
// particular asked for, such as that of a consumer or of a service for itself,
// sees everybody.
func (r *Rules) Visible(ctx context.Context) (Set, error) {
	p, ok := authn.From(ctx)
	switch {
	case !ok || p.IsService() || Scope(p.Rows) == All:
		return Everybody(), nil
	case p.PersonID <= 0:
		return Set{}, nil
	case r == nil || len(r.sources) == 0:
		return Persons(p.PersonID), nil
	}
	key := key{tenant: p.Tenant, person: p.PersonID, scope: p.Rows}
	if set, ok := r.cache.get(key); ok {
		return set, nil
	}
	// Those who wait with the first caller still get the answer when that one
	// has given up.
	asked := r.flight.DoChan(key.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		return r.ask(ctx, key, p)
	})
	select {
	case <-ctx.Done():
		return Set{}, ctx.Err()
	case result := <-asked:
		if result.Err != nil {
			return Set{}, fmt.Errorf("find out whom the caller may see: %w", result.Err)
		}
		return result.Val.(Set), nil
	}
}

func (r *Rules) ask(ctx context.Context, key key, p *authn.Principal) (Set, error) {
	ids := []int64{p.PersonID}
	for _, source := range r.sources {
		more, err := source.Persons(ctx, p)
		if err != nil {
			return Set{}, err
		}
		ids = append(ids, more...)
	}
	set := Persons(ids...)
	r.cache.put(key, set)
	return set, nil
}
