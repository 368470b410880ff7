package record

import (
	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// NewState returns the state of a person that other domains receive, without the primary jobs. The
// locations of those are in the database.
func NewState(r *Record, id int64, zone string, zones *commonsv1.PersonZones, version int64) *commonsv1.PersonState {
	return &commonsv1.PersonState{
		PersonId:     id,
		PersonNumber: r.Number(),
		FullName:     r.Details().GetFullName(),
		TimeZone:     zone,
		TimeZones:    zones,
		Version:      version,
		HireDate:     r.Details().GetHireDate(),
		Terminated:   NewPersonDays(r.TerminatedDays()),
		LockedOut:    NewPersonDays(r.LockedOutDays()),
	}
}

// DefaultStatus makes a person with a hire date and without any employment status an active
// employee from that date on (services/commons/README.md, hired persons are active).
func (r *Record) DefaultStatus() {
	info := r.Message.GetPersonInformation()
	if hired := info.GetPerson().GetHireDate(); hired != "" && len(info.GetEmploymentStatusList()) == 0 {
		info.EmploymentStatusList = []*commonsv1.EmploymentStatus{{
			EmploymentStatusName: StatusActive, EffectiveDate: hired, ExpirationDate: civil.Forever.String(),
		}}
	}
}

// TerminatedDays returns the days of terminated employment.
func (r *Record) TerminatedDays() []civil.Range {
	var out []civil.Range
	for _, s := range r.Message.GetPersonInformation().GetEmploymentStatusList() {
		if s.GetEmploymentStatusName() == StatusTerminated {
			out = append(out, CheckedRange(EffectiveDates(s)))
		}
	}
	return civil.Normalise(out)
}

// EndBadges ends the badges of a person on the days of terminated employment, so that other persons can
// have their numbers.
func (r *Record) EndBadges() {
	terminated := r.TerminatedDays()
	info := r.Message.GetPersonInformation()
	if len(terminated) == 0 || len(info.GetBadgeAssignments()) == 0 {
		return
	}
	var kept []*commonsv1.BadgeAssignment
	for _, b := range info.GetBadgeAssignments() {
		for _, days := range civil.AppendDifference(nil, []civil.Range{CheckedRange(EffectiveDates(b))}, terminated) {
			kept = append(kept, &commonsv1.BadgeAssignment{
				BadgeNumber: b.GetBadgeNumber(), EffectiveDate: days.From.String(), ExpirationDate: days.To.String(),
			})
		}
	}
	info.BadgeAssignments = kept
}

// LockedOutDays returns the days when the person may not log in. Days without a status of the
// user account do not lock the person out.
func (r *Record) LockedOutDays() []civil.Range {
	out := r.TerminatedDays()
	for _, s := range r.Message.GetPersonInformation().GetUserAccountStatusList() {
		if s.GetUserAccountStatusName() != StatusActive {
			out = append(out, CheckedRange(EffectiveDates(s)))
		}
	}
	return civil.Normalise(out)
}

// NewPersonDays returns ranges of days in the form of messages, with an exclusive end.
func NewPersonDays(ranges []civil.Range) []*commonsv1.PersonDays {
	var out []*commonsv1.PersonDays
	for _, r := range ranges {
		out = append(out, &commonsv1.PersonDays{From: r.From.String(), To: r.To.String()})
	}
	return out
}

// Statuses of the employment and of the user account.
const (
	StatusActive     = "Active"
	StatusTerminated = "Terminated"
)

// Statuses are the names of employment and user account statuses.
var Statuses = []string{StatusActive, "Inactive", StatusTerminated}
