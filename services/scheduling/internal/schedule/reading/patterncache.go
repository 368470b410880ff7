package reading

import (
	"context"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// PatternSource reads stored patterns by id, with the templates of their entries filled in. A
// stored pattern never changes.
type PatternSource interface {
	Patterns(ctx context.Context, db pg.Querier, ids []int64) (map[int64]*schedulingv1.SchedulePattern, error)
}

// maxTemplates limits the compiled entries in memory. An entry takes a few hundred bytes.
const maxTemplates = 1 << 17

// patternCache caches compiled patterns.
type patternCache struct {
	source   PatternSource
	compiled *cache.Cache[patternKey, *window.Pattern]
}

type patternKey struct {
	tenantID, id int64
	mergeBreaks  bool
	// names is the digest of the present names of renamed objects.
	names string
}

func newPatternCache(source PatternSource) *patternCache {
	return &patternCache{source: source, compiled: cache.NewLasting[patternKey](cache.Config[*window.Pattern]{
		Entries: maxTemplates, Weight: maxTemplates, WeightOf: func(c *window.Pattern) int { return len(c.Templates) },
	})}
}

// form determines how patterns are compiled.
type form struct {
	mergeBreaks bool
	// names are the present names of renamed objects.
	names *setupref.Names
}

func (f form) key(tenantID, id int64) patternKey {
	return patternKey{tenantID, id, f.mergeBreaks, f.names.Digest()}
}

// get returns the compiled patterns of ids, in the same order.
func (p *patternCache) get(ctx context.Context, db pg.Querier, ids []int64, f form) ([]*window.Pattern, error) {
	tenantID := tenant.Of(ctx)
	out := make([]*window.Pattern, len(ids))
	missing := p.fromCache(tenantID, ids, f, out)
	if len(missing) == 0 {
		return out, nil
	}
	loaded, err := p.source.Patterns(ctx, db, missing)
	if err != nil {
		return nil, fmt.Errorf("schedule: read patterns: %w", err)
	}
	for i, id := range ids {
		if out[i] != nil {
			continue
		}
		pattern, ok := loaded[id]
		if !ok {
			return nil, fmt.Errorf("schedule: pattern %d is not stored", id)
		}
		f.names.Apply(pattern)
		if out[i], err = window.Compile(pattern, f.mergeBreaks); err != nil {
			return nil, fmt.Errorf("schedule: pattern %d: %w", id, err)
		}
		p.compiled.Put(f.key(tenantID, id), out[i], time.Time{})
	}
	return out, nil
}

// fromCache fills out with the cached patterns, and returns the ids of the missing ones.
func (p *patternCache) fromCache(tenantID int64, ids []int64, f form, out []*window.Pattern) []int64 {
	var missing []int64
	for i, id := range ids {
		c, ok := p.compiled.Get(f.key(tenantID, id))
		if !ok {
			missing = append(missing, id)
			continue
		}
		out[i] = c
	}
	return missing
}
