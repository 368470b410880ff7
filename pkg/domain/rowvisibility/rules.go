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
	// queryTimeout bounds the query for the members of a group.
	queryTimeout = 10 * time.Second
	// Bounds of the cache: the callers, and the total of their ids, which take 32 MiB.
	maxCallers = 10_000
	maxIDs     = 4 << 20
)

// Source adds persons to the persons that a caller sees by their token. Delegations are separate;
// see [Rules.WithDelegations].
type Source interface {
	// Persons returns the additional persons that a principal sees, in any order. It is called only
	// for principals with a person who do not see all persons, at most once in some seconds for
	// each.
	Persons(ctx context.Context, p *authn.Principal) ([]int64, error)
}

// Rules decide which persons callers may see. The zero Rules, and nil, have no source: callers see
// only themselves, unless they have the scope All.
type Rules struct {
	sources      []Source
	delegations  Delegations
	log          *slog.Logger
	visibilities *cache.Loader[key, callerVisibility]
}

// key identifies a caller. It includes the scope, because a token with an older scope may still be
// valid.
type key struct {
	tenant, person int64
	scope          string
	// dated adds the persons who are visible on some days only.
	dated bool
	// ahead is the clock of the tenant: memberships and delegations begin and end by its days.
	ahead time.Duration
}

// String returns the key as text.
func (k key) String() string {
	return fmt.Sprintf("%d/%d/%s/%t/%d", k.tenant, k.person, k.scope, k.dated, k.ahead)
}

// New returns Rules that ask sources, and cache their results for a few seconds.
func New(clk clock.Clock, sources ...Source) *Rules {
	return &Rules{sources: sources, visibilities: cache.NewLoader[key](clk, cache.LoaderConfig[callerVisibility]{
		TTL: func(callerVisibility) time.Duration { return cacheTTL }, Timeout: queryTimeout,
		Config: cache.Config[callerVisibility]{Entries: maxCallers, Weight: maxIDs, WeightOf: callerVisibility.weight},
	})}
}

// Visible returns the persons that the caller of a context may see. Work without a user, such as
// that of a consumer or of a service for itself, sees all persons.
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
	_, dated := isDated(ctx)
	found, err := r.visibilities.Get(ctx, key{tenant: p.Tenant, person: p.PersonID, scope: p.Rows, dated: dated, ahead: clock.Ahead(ctx)},
		func(ctx context.Context) (callerVisibility, error) { return r.loadVisibility(ctx, p, dated) })
	if err != nil {
		return Set{}, fmt.Errorf("determine the persons that the caller may see: %w", err)
	}
	return found.setFor(ctx), nil
}

func (r *Rules) loadVisibility(ctx context.Context, p *authn.Principal, dated bool) (callerVisibility, error) {
	own, err := r.visiblePersons(ctx, p, dated)
	if err != nil {
		return callerVisibility{}, err
	}
	delegated, err := r.loadDelegations(ctx, p, dated)
	return callerVisibility{own: own, delegated: delegated}, err
}

// visiblePersons returns the persons that a principal sees without delegations.
func (r *Rules) visiblePersons(ctx context.Context, p *authn.Principal, dated bool) (Set, error) {
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
	out := Persons(ids...)
	if !dated {
		return out, nil
	}
	var err error
	out.dated, err = r.datedPersons(ctx, p, out)
	return out, err
}
