package rowvisibility

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

const (
	// cacheTTL is how long a change of a group may go unnoticed.
	cacheTTL = 5 * time.Second
	// queryTimeout bounds the question who is in a group.
	queryTimeout = 10 * time.Second
	// What is remembered: so many callers, and so many ids of them all together,
	// which is 32 MiB.
	maxCallers = 10_000
	maxIDs     = 4 << 20
)

// Source adds persons to what a caller sees beside what the token says. See
// [Rules.WithDelegations] for what others have delegated.
type Source interface {
	// Persons returns whom the source shows to a principal beside themselves,
	// in any order. It is asked only for principals with a person who do not
	// see everybody, at most once in some seconds for each.
	Persons(ctx context.Context, p *authn.Principal) ([]int64, error)
}

// Rules say whom callers may see. The zero Rules, and nil, know no source:
// then everybody but those with the scope All sees only themselves.
type Rules struct {
	sources      []Source
	delegations  Delegations
	log          *slog.Logger
	visibilities *cache.Loader[key, callerVisibility]
}

// key names a caller. A token of an older scope may still be good, so the
// scope is part of it.
type key struct {
	tenant, person int64
	scope          string
}

// String is the key as one text.
func (k key) String() string { return fmt.Sprintf("%d/%d/%s", k.tenant, k.person, k.scope) }

// New makes Rules that ask sources, and remember what they return for a few
// seconds.
func New(clk clock.Clock, sources ...Source) *Rules {
	return &Rules{sources: sources, visibilities: cache.NewLoader[key](clk, cache.LoaderConfig[callerVisibility]{
		TTL: func(callerVisibility) time.Duration { return cacheTTL }, Timeout: queryTimeout,
		Config: cache.Config[callerVisibility]{Entries: maxCallers, Weight: maxIDs, WeightOf: callerVisibility.weight},
	})}
}

// Visible returns whom the caller of a context may see. Work that nobody in
// particular asked for, such as that of a consumer or of a service for itself,
// sees everybody.
func (r *Rules) Visible(ctx context.Context) (Set, error) {
	set, err := r.visible(ctx)
	set.own = authn.OwnRecordFrom(ctx)
	return set, err
}

func (r *Rules) visible(ctx context.Context) (Set, error) {
	p, ok := authn.From(ctx)
	switch {
	case !ok || p.IsService() || Scope(p.Rows) == All:
		return AllPersons(), nil
	case p.PersonID <= 0:
		return Set{}, nil
	case r == nil || len(r.sources) == 0 && r.delegations == nil:
		return Persons(p.PersonID), nil
	}
	found, err := r.visibilities.Get(ctx, key{tenant: p.Tenant, person: p.PersonID, scope: p.Rows},
		func(ctx context.Context) (callerVisibility, error) { return r.loadVisibility(ctx, p) })
	if err != nil {
		return Set{}, fmt.Errorf("find out whom the caller may see: %w", err)
	}
	return found.of(ctx), nil
}

func (r *Rules) loadVisibility(ctx context.Context, p *authn.Principal) (callerVisibility, error) {
	own, err := r.seenBy(ctx, p)
	if err != nil {
		return callerVisibility{}, err
	}
	delegated, err := r.loadDelegations(ctx, p)
	return callerVisibility{own: own, delegated: delegated}, err
}

// seenBy returns whom a principal sees without delegations.
func (r *Rules) seenBy(ctx context.Context, p *authn.Principal) (Set, error) {
	if Scope(p.Rows) == All {
		return AllPersons(), nil
	}
	ids := []int64{p.PersonID}
	for _, source := range r.sources {
		more, err := source.Persons(ctx, p)
		if err != nil {
			return Set{}, err
		}
		ids = append(ids, more...)
	}
	return Persons(ids...), nil
}
