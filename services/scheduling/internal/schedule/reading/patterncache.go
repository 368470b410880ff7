package reading

import (
	"context"
	"fmt"
	"sync"

	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
)

// PatternSource gives stored patterns by id, complete: the templates of their
// entries stand in them. A stored pattern never changes.
type PatternSource interface {
	Patterns(ctx context.Context, db pg.Querier, tenantID int64, ids []int64) (map[int64]*schedulingv1.SchedulePattern, error)
}

// maxTemplates bounds the compiled entries that are kept in memory. An entry
// takes a few hundred bytes.
const maxTemplates = 1 << 17

// patternCache keeps compiled patterns. What was used lately is in young; when
// young has half of what may be kept it becomes old, and what was old and not
// used since is forgotten.
type patternCache struct {
	source     PatternSource
	mu         sync.Mutex
	young, old map[patternKey]*encoding.Pattern
	templates  int // in young
}

type patternKey struct {
	tenantID, id int64
	mergeBreaks  bool
}

func newPatternCache(source PatternSource) *patternCache {
	return &patternCache{source: source, young: map[patternKey]*encoding.Pattern{}}
}

// get returns the compiled patterns of ids, in the same order.
func (p *patternCache) get(ctx context.Context, db pg.Querier, tenantID int64, ids []int64, mergeBreaks bool) ([]*encoding.Pattern, error) {
	out := make([]*encoding.Pattern, len(ids))
	missing := p.known(tenantID, ids, mergeBreaks, out)
	if len(missing) == 0 {
		return out, nil
	}
	loaded, err := p.source.Patterns(ctx, db, tenantID, missing)
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
		if out[i], err = encoding.Compile(id, pattern, mergeBreaks); err != nil {
			return nil, fmt.Errorf("schedule: pattern %d: %w", id, err)
		}
		p.keep(patternKey{tenantID, id, mergeBreaks}, out[i])
	}
	return out, nil
}

// known fills out with the patterns that are in memory and returns the ids of
// the others.
func (p *patternCache) known(tenantID int64, ids []int64, mergeBreaks bool, out []*encoding.Pattern) []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var missing []int64
	for i, id := range ids {
		key := patternKey{tenantID, id, mergeBreaks}
		c := p.young[key]
		if c == nil {
			if c = p.old[key]; c == nil {
				missing = append(missing, id)
				continue
			}
			p.insert(key, c)
		}
		out[i] = c
	}
	return missing
}

func (p *patternCache) keep(key patternKey, c *encoding.Pattern) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.young[key] == nil {
		p.insert(key, c)
	}
}

func (p *patternCache) insert(key patternKey, c *encoding.Pattern) {
	p.young[key] = c
	p.templates += len(c.Templates)
	if p.templates > maxTemplates/2 {
		p.old, p.young, p.templates = p.young, map[patternKey]*encoding.Pattern{}, 0
	}
}
