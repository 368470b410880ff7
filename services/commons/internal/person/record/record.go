// Package record has a person in memory: the message, its dated lists, and how both
// are mapped to columns and tables.
package record

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Record is everything that is kept of a person: the message, and what the
// message has no list for.
type Record struct {
	Message *commonsv1.Person
	// PayRules are the rules from day to day. The message shows one of them.
	PayRules []*commonsv1.ExtensionPayRule
	// WageRules are what holds by job, from day to day.
	WageRules []*commonsv1.WageWorkRule
	// Terms are the employment terms, which timekeeping keeps, in order.
	Terms []TermAssignment
}

// Details are the names, the number and the dates of the person; nil when there are none.
func (r *Record) Details() *commonsv1.PersonDetails {
	return r.Message.GetPersonInformation().GetPerson()
}

// Number is the person number.
func (r *Record) Number() string { return r.Details().GetPersonNumber() }

// ExpandCurrent moves what callers give as one value with a first day into the lists
// that keep such values from day to day. A list that was given as well decides.
func (r *Record) ExpandCurrent() {
	if job := r.Message.GetJobAssignment().GetJobAssignmentDetails(); job != nil {
		if job.GetPayRuleName() != "" {
			r.PayRules = append(r.PayRules, &commonsv1.ExtensionPayRule{
				PayRuleName: job.GetPayRuleName(), EffectiveDate: job.GetPayRuleEffectiveDate(),
			})
		}
		if rates := &r.Message.JobAssignment.BaseWageRates; job.BaseWageHourly != nil && len(*rates) == 0 {
			*rates = append(*rates, &commonsv1.BaseWageRate{
				HourlyRate: job.BaseWageHourly, EffectiveDate: job.GetBaseWageEffectiveDate(),
			})
		}
	}
	if access := r.Message.GetPersonInformation().GetAccessAssignment(); access.GetTimeEntryTypeName() != "" {
		if methods := &access.EffectiveDatedTimeEntryMethods; len(*methods) == 0 {
			*methods = append(*methods, &commonsv1.TimeEntryMethod{
				TimeEntryTypeName: access.GetTimeEntryTypeName(), EffectiveDate: access.GetTimeEntryTypeEffectiveDate(),
				TimeEntryActivityTrackingStatus: access.GetTimeEntryActivityTrackingStatus(),
			})
		}
	}
	r.ClearCurrent()
}

// ClearCurrent clears the values that showCurrent fills in.
func (r *Record) ClearCurrent() {
	if job := r.Message.GetJobAssignment().GetJobAssignmentDetails(); job != nil {
		job.PayRuleName, job.PayRuleEffectiveDate = "", ""
		job.BaseWageHourly, job.BaseWageEffectiveDate = nil, ""
	}
	if access := r.Message.GetPersonInformation().GetAccessAssignment(); access != nil {
		clearTimeEntry(access)
	}
}

func clearTimeEntry(access *commonsv1.AccessAssignment) {
	access.TimeEntryTypeName, access.TimeEntryTypeEffectiveDate, access.TimeEntryActivityTrackingStatus = "", "", ""
}

// ClearUnchanged clears those of the values with one first day that a list of an
// older record begins to say on that day. A caller who sends back what
// showCurrent filled in says nothing new, and must not end what comes later.
func (r *Record) ClearUnchanged(old *Record) {
	if job := r.Message.GetJobAssignment().GetJobAssignmentDetails(); job != nil {
		for _, rule := range old.PayRules {
			if rule.GetPayRuleName() == job.GetPayRuleName() && rule.GetEffectiveDate() == job.GetPayRuleEffectiveDate() {
				job.PayRuleName, job.PayRuleEffectiveDate = "", ""
			}
		}
		for _, rate := range old.Message.GetJobAssignment().GetBaseWageRates() {
			if job.BaseWageHourly != nil && rate.GetHourlyRate() == *job.BaseWageHourly && rate.GetEffectiveDate() == job.GetBaseWageEffectiveDate() {
				job.BaseWageHourly, job.BaseWageEffectiveDate = nil, ""
			}
		}
	}
	if access := r.Message.GetPersonInformation().GetAccessAssignment(); access != nil {
		for _, method := range old.Message.GetPersonInformation().GetAccessAssignment().GetEffectiveDatedTimeEntryMethods() {
			status := access.GetTimeEntryActivityTrackingStatus()
			if method.GetTimeEntryTypeName() == access.GetTimeEntryTypeName() && method.GetEffectiveDate() == access.GetTimeEntryTypeEffectiveDate() &&
				(status == "" || status == method.GetTimeEntryActivityTrackingStatus()) {
				clearTimeEntry(access)
			}
		}
	}
}

// FillAddresses fills in the address of e-mail addresses of which only the
// notification was sent: without a flag, no address takes the one that is there
// away.
func (r *Record) FillAddresses(old *Record) {
	for _, sent := range r.Message.GetPersonInformation().GetEmailAddresses() {
		for _, known := range old.Message.GetPersonInformation().GetEmailAddresses() {
			if sent.GetAddress() == "" && sent.HasEmailNotificationDelivery != nil && sent.GetContactTypeName() == known.GetContactTypeName() {
				sent.Address = known.GetAddress()
			}
		}
	}
}

// FillCurrent fills in, from the lists, what the message shows as one value:
// what holds on a day, or else what comes next.
func (r *Record) FillCurrent(day civil.Date) {
	r.ClearCurrent()
	if job := r.Message.GetJobAssignment().GetJobAssignmentDetails(); job != nil {
		if rule := current(r.PayRules, day, DatesOf[*commonsv1.ExtensionPayRule]); rule != nil {
			job.PayRuleName, job.PayRuleEffectiveDate = rule.GetPayRuleName(), rule.GetEffectiveDate()
		}
		if rate := current(r.Message.JobAssignment.BaseWageRates, day, DatesOf[*commonsv1.BaseWageRate]); rate != nil {
			job.BaseWageHourly, job.BaseWageEffectiveDate = rate.HourlyRate, rate.EffectiveDate
		}
	}
	if access := r.Message.GetPersonInformation().GetAccessAssignment(); access != nil {
		if method := current(access.EffectiveDatedTimeEntryMethods, day, DatesOf[*commonsv1.TimeEntryMethod]); method != nil {
			access.TimeEntryTypeName, access.TimeEntryTypeEffectiveDate = method.TimeEntryTypeName, method.EffectiveDate
			access.TimeEntryActivityTrackingStatus = method.TimeEntryActivityTrackingStatus
		}
	}
}

// DatesOf returns from which day on m holds, and up to and not including which, as
// YYYY-MM-DD.
func DatesOf[M Dated](m M) (from, to string) { return m.GetEffectiveDate(), m.GetExpirationDate() }

// current returns the element of a settled list that holds on a day, or the
// first that begins later, or nil.
func current[M any](list []*M, day civil.Date, dates func(*M) (string, string)) *M {
	var next *M
	var begins civil.Date
	for _, m := range list {
		days := RangeOf(dates(m))
		if days.Contains(day) {
			return m
		}
		if days.From > day && (next == nil || days.From < begins) {
			next, begins = m, days.From
		}
	}
	return next
}

// RangeOf returns the range of dates that the rules let through.
func RangeOf(from, to string) civil.Range {
	first, err := civil.ParseDate(from)
	if err != nil {
		first = civil.Beginning
	}
	end, err := civil.ParseDate(to)
	if err != nil {
		end = civil.Forever
	}
	return civil.Range{From: first, To: end}
}

// Clone returns a copy that shares nothing with r.
func (r *Record) Clone() *Record {
	out := &Record{Message: proto.CloneOf(r.Message), Terms: slices.Clone(r.Terms)}
	for _, rule := range r.PayRules {
		out.PayRules = append(out.PayRules, proto.CloneOf(rule))
	}
	for _, rule := range r.WageRules {
		out.WageRules = append(out.WageRules, proto.CloneOf(rule))
	}
	return out
}

// Merge puts what was sent into a record, list by list, and then the rest.
func (r *Record) Merge(sent *Record) {
	all := Lists()
	fresh := make([][]DatedElement, len(all))
	for i, l := range all {
		fresh[i] = l.DatedElements(sent)
		l.Clear(sent)
	}
	// The parts that the lists are in come with the rest.
	mergeMessage(r.Message.ProtoReflect(), sent.Message.ProtoReflect())
	for i, l := range all {
		if len(fresh[i]) > 0 {
			l.Set(r, l.DropEmpty(overlay(l.DatedElements(r), fresh[i])))
		}
	}
}

// Render returns the person as callers see them on a day.
func (r *Record) Render(id int64, day civil.Date) *commonsv1.Person {
	r.FillCurrent(day)
	r.FillTerms()
	r.Message.PersonIdentity = NewIdentity(id, r.Number())
	return r.Message
}

// NewIdentity is how responses name a person.
func NewIdentity(id int64, number string) *commonsv1.PersonIdentity {
	return &commonsv1.PersonIdentity{PersonKey: &id, PersonNumber: &number}
}

// Body returns the bytes of what nobody searches: the message without what is
// computed or has columns or tables. A part of which nothing is left stays
// there, empty, for the rest to come back to.
func (r *Record) Body() ([]byte, error) {
	out := r.Clone()
	out.Message.PersonIdentity = nil
	DetailsOrEmpty(out).FullName = ""
	out.ClearCurrent()
	for _, l := range Lists() {
		l.Clear(out)
	}
	for _, c := range Columns() {
		c.Clear(out.Message.ProtoReflect())
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(out.Message)
	if err != nil {
		return nil, fmt.Errorf("encode person: %w", err)
	}
	return body, nil
}

// ActiveOn reports whether a person is active on a day. Without any employment
// status they are.
func (r *Record) ActiveOn(day civil.Date) bool {
	statuses := r.Message.GetPersonInformation().GetEmploymentStatusList()
	return len(statuses) == 0 || statusOn(statuses, day, (*commonsv1.EmploymentStatus).GetEmploymentStatusName) == StatusActive
}

// statusOn returns the status of a day, "" when there is none.
func statusOn[M Dated](list []M, day civil.Date, name func(M) string) string {
	for _, s := range list {
		if RangeOf(DatesOf(s)).Contains(day) {
			return name(s)
		}
	}
	return ""
}

// Dated is a message with the two dates.
type Dated interface {
	GetEffectiveDate() string
	GetExpirationDate() string
}
