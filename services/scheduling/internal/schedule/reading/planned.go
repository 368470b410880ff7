package reading

import (
	"context"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Planned is a shift or a pay code edit that a pattern puts on a day for any employee who follows
// it. It has no id, employee or version. Its times ignore clock changes.
type Planned struct {
	Shift       *schedulingv1.Shift
	PayCodeEdit *schedulingv1.PayCodeEdit
}

// ForEachPlanned calls add for the entries of the given kinds that begin on days of the spans. Only
// shifts and pay code edits are supported. It stops at the first error.
func (r *Reader) ForEachPlanned(ctx context.Context, spans []span.Span, days civil.Range, kinds []rotation.Kind, add func(Planned) error) error {
	rows := make([]storedrows.Span, len(spans))
	for i, s := range spans {
		rows[i].PatternID = s.PatternID
	}
	patterns, err := r.spanPatterns(ctx, rows, form{})
	if err != nil {
		return err
	}
	utc, err := r.Zones.Get("UTC")
	if err != nil {
		return err
	}
	for i := range spans {
		s := &spans[i]
		for day, found := range patterns[i].Cycle.Entries(s.Run(), days) {
			if day < days.From || !slices.Contains(kinds, found.Kind) {
				continue
			}
			t := &patterns[i].Templates[found.Template]
			planned, err := newPlanned(&Generated{
				Day: day, kind: t.Kind, template: t, relation: window.Relation{AssignmentID: s.AssignmentID, Pattern: patterns[i].Name},
			}, utc)
			if err != nil {
				return err
			}
			if err := add(planned); err != nil {
				return err
			}
		}
	}
	return nil
}

func newPlanned(g *Generated, zone *civil.Zone) (p Planned, err error) {
	if g.IsShift() {
		if p.Shift, err = g.Shift(zone, projection.Job{}); err == nil {
			p.Shift.Id, p.Shift.Version = nil, nil
		}
		return p, err
	}
	if p.PayCodeEdit, err = g.PayCodeEdit(zone, projection.Job{}); err == nil {
		p.PayCodeEdit.Id, p.PayCodeEdit.Version = nil, nil
	}
	return p, err
}
