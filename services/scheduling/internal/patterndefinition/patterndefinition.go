// Package patterndefinition turns the pattern that a caller describes into the
// pattern that schedules are computed from: checked, with every template that
// it names looked up, and stored once under the digest of its content.
//
// A stored pattern never changes. Editing or deleting a template therefore
// cannot touch what was made from it, and what is derived from a stored pattern
// is good for as long as it is kept.
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

// Settings bound what a pattern may be. Zero values mean the defaults.
type Settings struct {
	MaxCycle int           `name:"max-cycle" env:"MAX_CYCLE" default:"364" help:"Most days of a pattern's cycle."`
	MaxShift time.Duration `name:"max-shift" env:"MAX_SHIFT" default:"24h" help:"Longest shift or pay code edit of a template, at most a week."`
}

// ShiftSource finds shift templates by id and by name, names compared without
// case. What does not exist is left out of the response.
type ShiftSource interface {
	Find(ctx context.Context, db pg.Querier, ids []int64, names []string) ([]*schedulingv1.ShiftTemplate, error)
}

// PatternSource finds pattern templates in the same way.
type PatternSource interface {
	Find(ctx context.Context, db pg.Querier, ids []int64, names []string) ([]*schedulingv1.SchedulePattern, error)
}

// Definitions checks and stores patterns. It may be used from several
// goroutines.
type Definitions struct {
	rules    Rules
	shifts   ShiftSource
	patterns PatternSource
}

// New returns Definitions that look named templates up in the sources.
func New(settings Settings, shifts ShiftSource, patterns PatternSource) *Definitions {
	return &Definitions{rules: NewRules(settings), shifts: shifts, patterns: patterns}
}

// Request is a pattern as a caller describes it.
type Request struct {
	// Path is where the pattern stands in the request, for error messages:
	// "schedulePattern".
	Path string
	// Pattern is left as it is.
	Pattern *schedulingv1.SchedulePattern
}

// Definition is a pattern that is checked and whose templates are looked up.
type Definition struct {
	// Pattern is complete: all that it needs stands in it.
	Pattern *schedulingv1.SchedulePattern
	// DayCount is the length of the cycle in days.
	DayCount int32
	// EntriesPerDay is how many series a span of the pattern draws: the most entries, of
	// all kinds together, or the most segments on a day of the cycle, whichever are more.
	EntriesPerDay int32

	body   []byte
	digest [sha256.Size]byte
}

// Result is the Definition that was asked for, or why there is none.
type Result struct {
	Definition *Definition
	Err        error
}

// Resolve checks the patterns, looks up all templates that they name, and
// returns a result for each. A pattern that has only an id or a name means the
// pattern template of that id or name. The error is that of the lookup; what is
// wrong with a pattern is in its result.
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

// Check checks a pattern that becomes a pattern template, and sets its defaults. The pattern must be
// complete, but for the shift templates that its items name.
func (d *Definitions) Check(r Request) error {
	setPeriod(r.Pattern)
	return d.rules.Pattern(r.Path, proto.CloneOf(r.Pattern))
}

// check applies the rules that need nothing but the pattern.
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

// maxSegmentsPerDay bounds the segments on a day of a cycle, of all its entries. Each takes
// an id of those that workers draw in blocks.
const maxSegmentsPerDay = 1000

func entriesPerDay(pattern *schedulingv1.SchedulePattern) (most int32) {
	entries, segments := map[int32]int32{}, map[int32]int32{}
	for _, item := range pattern.GetItems() {
		entries[item.GetDay()] += scheduleevent.Entries(item)
		segments[item.GetDay()] += segmentsOf(item)
		most = max(most, entries[item.GetDay()], segments[item.GetDay()])
	}
	return most
}

func segmentsOf(item *schedulingv1.SchedulePatternItem) int32 {
	return int32(len(item.GetShiftTemplate().GetSegments()) + len(item.GetAvailabilityTemplate().GetSegments()) +
		len(item.GetScheduleTagTemplate().GetSegments()))
}
