// Package record holds a person in memory: the message, its dated lists, and their mapping to
// columns and tables.
package record

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Record holds all stored data of a person: the message, and the lists that the message
// lacks.
type Record struct {
	Message *commonsv1.Person
	// PayRules are the dated pay rules. The message shows one of them.
	PayRules []*commonsv1.ExtensionPayRule
	// AccrualProfiles are the dated accrual profiles. The message shows one of them.
	AccrualProfiles []*commonsv1.ExtensionAccrualProfile
	// WageRules are the dated wages and work rules by job.
	WageRules []*commonsv1.WageWorkRule
	// Terms are the employment terms in order. Timekeeping owns them.
	Terms []TermAssignment
	// SignedOff is the last signed-off day of the timecard, or nil. Timekeeping owns it.
	SignedOff *civil.Date
}

// Details returns the names, the number and the dates of the person, or nil if they are
// missing.
func (r *Record) Details() *commonsv1.PersonDetails {
	return r.Message.GetPersonInformation().GetPerson()
}

// Number returns the person number.
func (r *Record) Number() string { return r.Details().GetPersonNumber() }

// ExpandCurrent moves values that callers send with a first day into the dated lists of such
// values. A list in the same request takes precedence.
func (r *Record) ExpandCurrent() {
	r.expandAccrualProfile()
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

// ClearCurrent clears the values that FillCurrent fills in.
func (r *Record) ClearCurrent() {
	if details := r.Details(); details != nil {
		clearAccrualProfile(details)
	}
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

// ClearUnchanged clears values with a first day that equal an entry in a list of the older
// record. A caller who sends back values that FillCurrent filled in does not change them, and
// must not end later entries.
func (r *Record) ClearUnchanged(old *Record) {
	r.clearUnchangedAccrualProfile(old)
	r.clearSignedOff(old)
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

// FillAddresses fills in the missing address of sent email addresses that have only the
// notification flag. Without the flag, an empty address removes the existing one.
func (r *Record) FillAddresses(old *Record) {
	for _, sent := range r.Message.GetPersonInformation().GetEmailAddresses() {
		for _, known := range old.Message.GetPersonInformation().GetEmailAddresses() {
			if sent.GetAddress() == "" && sent.HasEmailNotificationDelivery != nil && sent.GetContactTypeName() == known.GetContactTypeName() {
				sent.Address = known.GetAddress()
			}
		}
	}
}

// FillCurrent fills in the single values of the message from the lists: the entry that
// applies on a day, or else the next one.
func (r *Record) FillCurrent(day civil.Date) {
	r.ClearCurrent()
	r.fillAccrualProfile(day)
	r.fillFullTime(day)
	r.fillSignedOff()
	if job := r.Message.GetJobAssignment().GetJobAssignmentDetails(); job != nil {
		if rule := current(r.PayRules, day, EffectiveDates[*commonsv1.ExtensionPayRule]); rule != nil {
			job.PayRuleName, job.PayRuleEffectiveDate = rule.GetPayRuleName(), rule.GetEffectiveDate()
		}
		if rate := current(r.Message.JobAssignment.BaseWageRates, day, EffectiveDates[*commonsv1.BaseWageRate]); rate != nil {
			job.BaseWageHourly, job.BaseWageEffectiveDate = rate.HourlyRate, rate.EffectiveDate
		}
	}
	if access := r.Message.GetPersonInformation().GetAccessAssignment(); access != nil {
		if method := current(access.EffectiveDatedTimeEntryMethods, day, EffectiveDates[*commonsv1.TimeEntryMethod]); method != nil {
			access.TimeEntryTypeName, access.TimeEntryTypeEffectiveDate = method.TimeEntryTypeName, method.EffectiveDate
			access.TimeEntryActivityTrackingStatus = method.TimeEntryActivityTrackingStatus
		}
	}
}

// EffectiveDates returns the first day of m and the day after the last, as YYYY-MM-DD.
func EffectiveDates[M Dated](m M) (from, to string) {
	return m.GetEffectiveDate(), m.GetExpirationDate()
}

// current returns the element of a normalized list that applies on a day, or else the next
// one, or nil.
func current[M any](list []*M, day civil.Date, dates func(*M) (string, string)) *M {
	var next *M
	var begins civil.Date
	for _, m := range list {
		days := CheckedRange(dates(m))
		if days.Contains(day) {
			return m
		}
		if days.From > day && (next == nil || days.From < begins) {
			next, begins = m, days.From
		}
	}
	return next
}

// CheckedRange returns the range between two dates that the rules have checked.
func CheckedRange(from, to string) civil.Range {
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

// Clone returns a deep copy of r.
func (r *Record) Clone() *Record {
	out := &Record{Message: proto.CloneOf(r.Message), Terms: slices.Clone(r.Terms), SignedOff: r.SignedOff}
	for _, rule := range r.PayRules {
		out.PayRules = append(out.PayRules, proto.CloneOf(rule))
	}
	for _, profile := range r.AccrualProfiles {
		out.AccrualProfiles = append(out.AccrualProfiles, proto.CloneOf(profile))
	}
	for _, rule := range r.WageRules {
		out.WageRules = append(out.WageRules, proto.CloneOf(rule))
	}
	return out
}

// Merge merges sent data into a record: first the lists, and then the rest.
func (r *Record) Merge(sent *Record) {
	all := Lists()
	fresh := make([][]DatedElement, len(all))
	for i, l := range all {
		fresh[i] = l.DatedElements(sent)
		l.Clear(sent)
	}
	// This also creates the messages that contain the lists.
	mergeMessage(r.Message.ProtoReflect(), sent.Message.ProtoReflect())
	for i, l := range all {
		if len(fresh[i]) > 0 {
			l.Set(r, l.DropEmpty(overlay(l.DatedElements(r), fresh[i])))
		}
	}
}

// Render returns the person as responses show them on a day.
func (r *Record) Render(id int64, day civil.Date) *commonsv1.Person {
	r.FillCurrent(day)
	r.FillTerms()
	r.Message.PersonIdentity = NewIdentity(id, r.Number())
	return r.Message
}

// NewIdentity returns the identity of a person in responses.
func NewIdentity(id int64, number string) *commonsv1.PersonIdentity {
	return &commonsv1.PersonIdentity{PersonKey: &id, PersonNumber: &number}
}

// Body encodes the properties that queries do not use: the message without computed
// properties and without those that have columns or tables. An emptied part stays in the
// message, so that the other properties can be added to it again.
func (r *Record) Body() ([]byte, error) {
	out := r.Clone()
	out.Message.PersonIdentity = nil
	DetailsOrEmpty(out).FullName = ""
	out.ClearCurrent()
	out.keepLastAccrualProfile()
	for _, l := range Tables() {
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

// ActiveOn reports whether a person is active on a day. A person without any employment
// status is active.
func (r *Record) ActiveOn(day civil.Date) bool {
	statuses := r.Message.GetPersonInformation().GetEmploymentStatusList()
	return len(statuses) == 0 || statusOn(statuses, day, (*commonsv1.EmploymentStatus).GetEmploymentStatusName) == StatusActive
}

// statusOn returns the status on a day, or "" if there is none.
func statusOn[M Dated](list []M, day civil.Date, name func(M) string) string {
	for _, s := range list {
		if CheckedRange(EffectiveDates(s)).Contains(day) {
			return name(s)
		}
	}
	return ""
}

// Dated is a message with an effective and an expiration date.
type Dated interface {
	GetEffectiveDate() string
	GetExpirationDate() string
}
