package patternassignment

import (
	"fmt"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

const (
	// codeEnd (400): an end that is not after its start.
	codeEnd     = "WFS-100904"
	codeMissing = patterndefinition.CodeMissing
	// codeRange (400): a window whose end lies before its start.
	codeRange = "WFS-111203"
)

// assignment is a version of the assignment of a pattern to an owner.
type assignment struct {
	id int64 // 0 until it is stored
	// lineage is the id of the first of the assignments that came from one another,
	// 0 until that is stored. What people changed by hand stays with it.
	lineage int64
	version int32
	ownerID int64
	// ofEmployee reports whether the owner is an employee, and not a term.
	ofEmployee bool
	ownerName  string
	// inherits reports whether the owner is a term that passes its patterns on, or an
	// employee.
	inherits bool
	// days end before civil.Forever, or with it: then there is no end.
	days      civil.Range
	patternID int64
	dayCount  int32
	// entriesPerDay is the most entries on a day of the pattern.
	entriesPerDay int32
	// anchor is a day on which cycle day 1 falls, before the offset. It stays
	// when days are taken away, so that the cycle goes on as it was.
	anchor   civil.Date
	offset   int32
	override bool
	lane     uint8
	// seq orders the assignments: those that were made later stand above. Changes
	// leave it as it is.
	seq int64
	// applied reports whether the propagation of this version has finished.
	applied bool
}

// layer is the assignment as the engine sees it.
func (a *assignment) layer() span.Assignment {
	return span.Assignment{
		ID: a.id, Seq: a.seq, TermID: a.termID(), From: a.days.From, To: a.days.To,
		PatternID: a.patternID, DayCount: a.dayCount, Anchor: a.anchor, Offset: a.offset,
		Override: a.override, Lane: a.lane, Lineage: a.lineage, EntriesPerDay: a.entriesPerDay,
	}
}

// termID is the owner as the engine knows it: 0 for an employee.
func (a *assignment) termID() int64 {
	if a.ofEmployee {
		return 0
	}
	return a.ownerID
}

// message is the assignment as callers see it. An assignment without end has
// no end date.
func (a *assignment) message(pattern *schedulingv1.SchedulePattern) *schedulingv1.GroupSchedulePattern {
	m := &schedulingv1.GroupSchedulePattern{
		Id:              proto.Int64(a.id),
		GroupRef:        &commonv1.Ref{Id: proto.Int64(a.ownerID), Qualifier: proto.String(a.ownerName)},
		StartDate:       a.days.From.String(),
		StartDateOffset: proto.Int32(a.offset),
		SchedulePattern: pattern,
	}
	last := civil.Forever
	if a.days.To < civil.Forever {
		last = a.days.To.AddDays(-1)
		m.EndDate = last.String()
	}
	if !a.applied {
		last = a.days.From.AddDays(-1).Clamp()
	}
	m.PopulatedThroughDate = last.String()
	return m
}

// parseDate reads a date of a request, pulled into the calendar of the product.
func parseDate(path, text string) (civil.Date, error) {
	date, err := civil.ParseDate(text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".")
	}
	return date.Clamp(), nil
}

// neededDate is parseDate for a date that must be given.
func neededDate(path, text string) (civil.Date, error) {
	if text == "" {
		return 0, patterndefinition.Missing(path)
	}
	return parseDate(path, text)
}

// parseEnd reads a last day and returns the day after it. Without a date there
// is no end.
func parseEnd(path, text string) (civil.Date, error) {
	if text == "" {
		return civil.Forever, nil
	}
	last, err := parseDate(path, text)
	return last.AddDays(1).Clamp(), err
}

// anchorOf returns where the cycle of a pattern begins: on its own start
// date, or else on the start of the assignment.
func anchorOf(pattern *schedulingv1.SchedulePattern, start civil.Date) (civil.Date, error) {
	if pattern.GetStartDate() == "" {
		return start, nil
	}
	anchor, err := civil.ParseDate(pattern.GetStartDate())
	if err != nil {
		return 0, fmt.Errorf("patternassignment: start date of a checked pattern: %w", err)
	}
	return anchor, nil
}

// checkDays refuses an assignment whose last day is not after its first.
func (k *Kind) checkDays(path string, days civil.Range) error {
	if days.Days() > 1 {
		return nil
	}
	return fault.New(k.codeEnd, http.StatusBadRequest, path+".endDate must be after startDate.")
}
