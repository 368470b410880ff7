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
	// codeRange (400): a window whose end is before its start.
	codeRange = "WFS-111203"
)

// assignment is a version of the assignment of a pattern to an owner.
type assignment struct {
	// id is 0 until it is stored, and negative if it is part of a change that will not be stored.
	id int64
	// lineage is the id of the first assignment in a chain of replacements, or 0 until that is
	// stored. Manual changes of entries follow the lineage.
	lineage int64
	version int32
	ownerID int64
	// ofEmployee reports whether the owner is an employee and not a term.
	ofEmployee bool
	ownerName  string
	// inherits reports whether the owner is an employee, or a term that passes on its patterns.
	inherits bool
	// days is the range of days. An end of civil.Forever means no end.
	days      civil.Range
	patternID int64
	dayCount  int32
	// entriesPerDay is the largest number of entries on a day of the pattern.
	entriesPerDay int32
	// anchor is a day with cycle day 1, before the offset. It does not change when days are
	// removed, so that the cycle continues unchanged.
	anchor   civil.Date
	offset   int32
	override bool
	lane     uint8
	// seq orders assignments: later ones are above earlier ones. Changes keep it.
	seq int64
	// propagationID is the propagation of this version, and applied reports whether it has finished.
	propagationID int64
	applied       bool
}

// layer converts the assignment for package span.
func (a *assignment) layer() span.Assignment {
	return span.Assignment{
		ID: a.id, Seq: a.seq, TermID: a.termID(), From: a.days.From, To: a.days.To,
		PatternID: a.patternID, DayCount: a.dayCount, Anchor: a.anchor, Offset: a.offset,
		Override: a.override, Lane: a.lane, Lineage: a.lineage, EntriesPerDay: a.entriesPerDay,
	}
}

// termID returns the owner for package span: 0 for an employee.
func (a *assignment) termID() int64 {
	if a.ofEmployee {
		return 0
	}
	return a.ownerID
}

// shownID returns the id of an assignment for responses: nil if the assignment is not stored.
func shownID(id int64) *int64 {
	if id <= 0 {
		return nil
	}
	return &id
}

// idText returns the id for the end of a sentence, or "" if the assignment is not stored.
func (a *assignment) idText() string {
	if a.id <= 0 {
		return ""
	}
	return fmt.Sprintf(" %d", a.id)
}

// message returns the assignment for responses. An assignment without an end has no end date.
func (a *assignment) message(pattern *schedulingv1.SchedulePattern) *schedulingv1.GroupSchedulePattern {
	m := &schedulingv1.GroupSchedulePattern{
		Id:              shownID(a.id),
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

// parseDate parses a date of a request, and clamps it to the supported calendar.
func parseDate(path, text string) (civil.Date, error) {
	date, err := civil.ParseDate(text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".").WithMembers(path)
	}
	return date.Clamp(), nil
}

// requireDate is parseDate for a required date.
func requireDate(path, text string) (civil.Date, error) {
	if text == "" {
		return 0, patterndefinition.Missing(path)
	}
	return parseDate(path, text)
}

// parseEnd parses a last day, and returns the day after it. An empty text means no end.
func parseEnd(path, text string) (civil.Date, error) {
	if text == "" {
		return civil.Forever, nil
	}
	last, err := parseDate(path, text)
	return last.AddDays(1).Clamp(), err
}

// cycleAnchor returns the first date of a pattern's cycle: the pattern's own start date, or else
// the start of the assignment.
func cycleAnchor(pattern *schedulingv1.SchedulePattern, start civil.Date) (civil.Date, error) {
	if pattern.GetStartDate() == "" {
		return start, nil
	}
	anchor, err := civil.ParseDate(pattern.GetStartDate())
	if err != nil {
		return 0, fmt.Errorf("patternassignment: start date of a checked pattern: %w", err)
	}
	return anchor, nil
}

// checkDays rejects an assignment whose last day is not after its first.
func (k *Kind) checkDays(path string, days civil.Range) error {
	if days.Days() > 1 {
		return nil
	}
	return fault.New(k.codeEnd, http.StatusBadRequest, path+".endDate must be after startDate.").WithMembers(path + ".endDate")
}
