package schedule

import (
	"context"
	"fmt"
	"sync"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// PatternSource gives stored patterns by id, complete: the templates of their
// entries stand in them. A stored pattern never changes.
type PatternSource interface {
	Patterns(ctx context.Context, db pg.Querier, tenantID int64, ids []int64) (map[int64]*schedulingv1.SchedulePattern, error)
}

// mostTemplates bounds the compiled entries that are kept in memory. An entry
// takes a few hundred bytes.
const mostTemplates = 1 << 17

// patterns keeps compiled patterns. What was used lately is in young; when
// young has half of what may be kept it becomes old, and what was old and not
// used since is forgotten.
type patterns struct {
	source     PatternSource
	mu         sync.Mutex
	young, old map[patternKey]*compiled
	templates  int // in young
}

type patternKey struct {
	tenantID, id int64
	mergeBreaks  bool
}

func newPatterns(source PatternSource) *patterns {
	return &patterns{source: source, young: map[patternKey]*compiled{}}
}

// get returns the compiled patterns of ids, in the same order.
func (p *patterns) get(ctx context.Context, db pg.Querier, tenantID int64, ids []int64, mergeBreaks bool) ([]*compiled, error) {
	out := make([]*compiled, len(ids))
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
		if out[i], err = compile(id, pattern, mergeBreaks); err != nil {
			return nil, fmt.Errorf("schedule: pattern %d: %w", id, err)
		}
		p.keep(patternKey{tenantID, id, mergeBreaks}, out[i])
	}
	return out, nil
}

// known fills out with the patterns that are in memory and returns the ids of
// the others.
func (p *patterns) known(tenantID int64, ids []int64, mergeBreaks bool, out []*compiled) []int64 {
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

func (p *patterns) keep(key patternKey, c *compiled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.young[key] == nil {
		p.insert(key, c)
	}
}

func (p *patterns) insert(key patternKey, c *compiled) {
	p.young[key] = c
	p.templates += len(c.templates)
	if p.templates > mostTemplates/2 {
		p.old, p.young, p.templates = p.young, map[patternKey]*compiled{}, 0
	}
}
