// Package patterndefinition converts the pattern in a request to the pattern that schedules are
// computed from. It checks the pattern, looks up the templates that the pattern names, and stores
// the result once under the digest of its content.
//
// A stored pattern never changes. Editing or deleting a template therefore does not affect patterns
// that were created from it, and data that is derived from a stored pattern never becomes outdated.
package patterndefinition

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

// Settings limit patterns. Zero values mean the defaults.
type Settings struct {
	MaxCycle int           `name:"max-cycle" env:"MAX_CYCLE" default:"364" help:"Maximum number of days in a pattern's cycle."`
	MaxShift time.Duration `name:"max-shift" env:"MAX_SHIFT" default:"24h" help:"Maximum length of a shift or pay code edit in a template, at most a week."`
}

// ShiftSource finds shift templates by id and by name, ignoring case. It omits unknown ones.
type ShiftSource interface {
	Find(ctx context.Context, db pg.Querier, ids []int64, names []string) ([]*schedulingv1.ShiftTemplate, error)
}

// PatternSource finds pattern templates in the same way.
type PatternSource interface {
	Find(ctx context.Context, db pg.Querier, ids []int64, names []string) ([]*schedulingv1.SchedulePattern, error)
}

// Definitions checks and stores patterns. It is safe for concurrent use.
type Definitions struct {
	rules    Rules
	shifts   ShiftSource
	patterns PatternSource
}

// New returns Definitions that look up templates in the sources.
func New(settings Settings, shifts ShiftSource, patterns PatternSource) *Definitions {
	return &Definitions{rules: NewRules(settings), shifts: shifts, patterns: patterns}
}

// Request is a pattern of a request.
type Request struct {
	// Path is the path of the pattern in the request, for messages, such as "schedulePattern".
	Path string
	// Pattern is not modified.
	Pattern *schedulingv1.SchedulePattern
}

// Definition is a checked pattern with its templates filled in.
type Definition struct {
	// Pattern is complete: it contains all templates.
	Pattern *schedulingv1.SchedulePattern
	// DayCount is the length of the cycle in days.
	DayCount int32
	// EntriesPerDay is the number of series that a span of the pattern needs: the largest number of
	// entries or segments on a day of the cycle.
	EntriesPerDay int32

	body   []byte
	digest [sha256.Size]byte
}

// Result is the Definition of a request, or the error.
type Result struct {
	Definition *Definition
	Err        error
}

// Resolve checks the patterns, looks up their templates, and returns a result for each pattern. A
// pattern with only an id or a name stands for the pattern template with that id or name. Resolve
// returns an error only if a lookup fails; errors of patterns are in their results.
func (d *Definitions) Resolve(ctx context.Context, db pg.Querier, requests []Request) ([]Result, error) {
	results := make([]Result, len(requests))
	patterns := make([]*schedulingv1.SchedulePattern, len(requests))
	for i, a := range requests {
		patterns[i] = proto.CloneOf(a.Pattern)
	}
	if err := d.followTemplates(ctx, db, requests, patterns, results); err != nil {
		return nil, err
	}
	d.check(requests, patterns, results)
	if err := d.fillShifts(ctx, db, requests, patterns, results); err != nil {
		return nil, err
	}
	for i, pattern := range patterns {
		if results[i].Err == nil {
			results[i].Definition, results[i].Err = newDefinition(requests[i].Path, pattern)
		}
	}
	return results, nil
}

// Check checks a new pattern template, and sets its defaults. The pattern must be complete, except
// that its items can name shift templates.
func (d *Definitions) Check(r Request) error {
	setPeriod(r.Pattern)
	return d.rules.Pattern(r.Path, proto.CloneOf(r.Pattern))
}

// Faults returns the error of a pattern of an assignment that needs no lookup, or nil. A missing
// pattern has none.
func (d *Definitions) Faults(r Request) error {
	if r.Pattern == nil || namesPattern(r.Pattern) {
		return nil
	}
	return d.rules.Pattern(r.Path, proto.CloneOf(r.Pattern))
}

// check applies the rules that need only the pattern.
func (d *Definitions) check(requests []Request, patterns []*schedulingv1.SchedulePattern, results []Result) {
	for i, pattern := range patterns {
		if results[i].Err == nil {
			results[i].Err = d.rules.Pattern(requests[i].Path, pattern)
		}
	}
}

func newDefinition(path string, pattern *schedulingv1.SchedulePattern) (*Definition, error) {
	if size := proto.Size(pattern); size > maxPatternBytes {
		return nil, Invalid(path, "must not be larger than %d bytes with all its templates; it has %d", maxPatternBytes, size)
	}
	perDay := entriesPerDay(pattern)
	if perDay > maxSegmentsPerDay {
		return nil, Invalid(path+".items", "must not have more than %d segments on a day; there are %d", maxSegmentsPerDay, perDay)
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(pattern)
	if err != nil {
		return nil, fmt.Errorf("patterndefinition: encode pattern: %w", err)
	}
	return &Definition{
		Pattern:       pattern,
		DayCount:      pattern.GetDayCount(),
		EntriesPerDay: perDay,
		body:          body,
		digest:        sha256.Sum256(body),
	}, nil
}

// maxSegmentsPerDay limits the segments of all entries on a day of a cycle. Each needs an id, and
// workers allocate ids in blocks.
const maxSegmentsPerDay = 1000

func entriesPerDay(pattern *schedulingv1.SchedulePattern) (most int32) {
	entries, segments := map[int32]int32{}, map[int32]int32{}
	for _, item := range pattern.GetItems() {
		entries[item.GetDay()] += scheduleevent.Entries(item)
		segments[item.GetDay()] += countSegments(item)
		most = max(most, entries[item.GetDay()], segments[item.GetDay()])
	}
	return most
}

func countSegments(item *schedulingv1.SchedulePatternItem) int32 {
	return int32(len(item.GetShiftTemplate().GetSegments()) + len(item.GetAvailabilityTemplate().GetSegments()) +
		len(item.GetScheduleTagTemplate().GetSegments()))
}
