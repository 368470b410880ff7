package person

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// record is everything that is kept of a person: the message, and what the
// message has no list for.
type record struct {
	person *commonsv1.Person
	// payRules are the rules from day to day. The message shows one of them.
	payRules []*payRule
	// wageRules are what holds by job, from day to day.
	wageRules []*wageRule
	// terms are the employment terms, which timekeeping keeps, in order.
	terms []termDays
	// aoid and coid are the pair of names that another system gave.
	aoid, coid string
}

type payRule struct{ name, effective, expiration string }

func (r *record) details() *commonsv1.PersonDetails {
	return r.person.GetPersonInformation().GetPerson()
}

func (r *record) number() string { return r.details().GetPersonNumber() }

// spread moves what callers give as one value with a first day into the lists
// that keep such values from day to day. A list that was given as well decides.
func (r *record) spread() {
	if job := r.person.GetJobAssignment().GetJobAssignmentDetails(); job != nil {
		if job.GetPayRuleName() != "" {
			r.payRules = append(r.payRules, &payRule{name: job.GetPayRuleName(), effective: job.GetPayRuleEffectiveDate()})
		}
		if rates := &r.person.JobAssignment.BaseWageRates; job.BaseWageHourly != nil && len(*rates) == 0 {
			*rates = append(*rates, &commonsv1.BaseWageRate{
				HourlyRate: job.BaseWageHourly, EffectiveDate: job.GetBaseWageEffectiveDate(),
			})
		}
	}
	if access := r.person.GetPersonInformation().GetAccessAssignment(); access.GetTimeEntryTypeName() != "" {
		if methods := &access.EffectiveDatedTimeEntryMethods; len(*methods) == 0 {
			*methods = append(*methods, &commonsv1.TimeEntryMethod{
				TimeEntryTypeName: access.GetTimeEntryTypeName(), EffectiveDate: access.GetTimeEntryTypeEffectiveDate(),
			})
		}
	}
	r.hideCurrent()
}

// hideCurrent clears the values that showCurrent fills in.
func (r *record) hideCurrent() {
	if job := r.person.GetJobAssignment().GetJobAssignmentDetails(); job != nil {
		job.PayRuleName, job.PayRuleEffectiveDate = "", ""
		job.BaseWageHourly, job.BaseWageEffectiveDate = nil, ""
	}
	if access := r.person.GetPersonInformation().GetAccessAssignment(); access != nil {
		access.TimeEntryTypeName, access.TimeEntryTypeEffectiveDate = "", ""
	}
}

// hideKnown clears those of the values with one first day that a list of an
// older record begins to say on that day. A caller who sends back what
// showCurrent filled in says nothing new, and must not end what comes later.
func (r *record) hideKnown(old *record) {
	if job := r.person.GetJobAssignment().GetJobAssignmentDetails(); job != nil {
		for _, rule := range old.payRules {
			if rule.name == job.GetPayRuleName() && rule.effective == job.GetPayRuleEffectiveDate() {
				job.PayRuleName, job.PayRuleEffectiveDate = "", ""
			}
		}
		for _, rate := range old.person.GetJobAssignment().GetBaseWageRates() {
			if job.BaseWageHourly != nil && rate.GetHourlyRate() == *job.BaseWageHourly && rate.GetEffectiveDate() == job.GetBaseWageEffectiveDate() {
				job.BaseWageHourly, job.BaseWageEffectiveDate = nil, ""
			}
		}
	}
	if access := r.person.GetPersonInformation().GetAccessAssignment(); access != nil {
		for _, method := range old.person.GetPersonInformation().GetAccessAssignment().GetEffectiveDatedTimeEntryMethods() {
			if method.GetTimeEntryTypeName() == access.GetTimeEntryTypeName() && method.GetEffectiveDate() == access.GetTimeEntryTypeEffectiveDate() {
				access.TimeEntryTypeName, access.TimeEntryTypeEffectiveDate = "", ""
			}
		}
	}
}

// keepAddresses fills in the address of e-mail addresses of which only the
// notification was sent: without a flag, no address takes the one that is there
// away.
func (r *record) keepAddresses(old *record) {
	for _, sent := range r.person.GetPersonInformation().GetEmailAddresses() {
		for _, known := range old.person.GetPersonInformation().GetEmailAddresses() {
			if sent.GetAddress() == "" && sent.HasEmailNotificationDelivery != nil && sent.GetContactTypeName() == known.GetContactTypeName() {
				sent.Address = known.GetAddress()
			}
		}
	}
}

// showCurrent fills in, from the lists, what the message shows as one value:
// what holds on a day, or else what comes next.
func (r *record) showCurrent(day civil.Date) {
	r.hideCurrent()
	if job := r.person.GetJobAssignment().GetJobAssignmentDetails(); job != nil {
		if rule := current(r.payRules, day, func(p *payRule) (string, string) { return p.effective, p.expiration }); rule != nil {
			job.PayRuleName, job.PayRuleEffectiveDate = rule.name, rule.effective
		}
		if rate := current(r.person.JobAssignment.BaseWageRates, day, datesOf[*commonsv1.BaseWageRate]); rate != nil {
			job.BaseWageHourly, job.BaseWageEffectiveDate = rate.HourlyRate, rate.EffectiveDate
		}
	}
	if access := r.person.GetPersonInformation().GetAccessAssignment(); access != nil {
		if method := current(access.EffectiveDatedTimeEntryMethods, day, datesOf[*commonsv1.TimeEntryMethod]); method != nil {
			access.TimeEntryTypeName, access.TimeEntryTypeEffectiveDate = method.TimeEntryTypeName, method.EffectiveDate
		}
	}
}

func datesOf[M dated](m M) (from, to string) { return m.GetEffectiveDate(), m.GetExpirationDate() }

// current answers the element of a settled list that holds on a day, or the
// first that begins later, or nil.
func current[M any](list []*M, day civil.Date, dates func(*M) (string, string)) *M {
	var next *M
	var begins civil.Date
	for _, m := range list {
		days := rangeOf(dates(m))
		if days.Contains(day) {
			return m
		}
		if days.From > day && (next == nil || days.From < begins) {
			next, begins = m, days.From
		}
	}
	return next
}

// rangeOf answers the range of dates that the rules let through.
func rangeOf(from, to string) civil.Range {
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

func (r *record) clone() *record {
	out := &record{person: proto.CloneOf(r.person), aoid: r.aoid, coid: r.coid, terms: slices.Clone(r.terms)}
	for _, rule := range r.payRules {
		copied := *rule
		out.payRules = append(out.payRules, &copied)
	}
	for _, rule := range r.wageRules {
		copied := *rule
		out.wageRules = append(out.wageRules, &copied)
	}
	return out
}

// apply puts what was sent into a record, list by list, and then the rest.
func (r *record) apply(sent *record) {
	all := lists()
	fresh := make([][]entry, len(all))
	for i, l := range all {
		fresh[i] = l.entries(sent)
		l.clear(sent)
	}
	// The parts that the lists are in come with the rest.
	merge(r.person.ProtoReflect(), sent.person.ProtoReflect())
	for i, l := range all {
		if len(fresh[i]) > 0 {
			l.put(r, l.kept(overlay(l.entries(r), fresh[i])))
		}
	}
}

// show answers the person as callers see them on a day.
func (r *record) show(id int64, day civil.Date) *commonsv1.Person {
	r.showCurrent(day)
	r.showTerms()
	r.person.PersonIdentity = identity(id, r.number())
	return r.person
}

// identity is how answers name a person.
func identity(id int64, number string) *commonsv1.PersonIdentity {
	return &commonsv1.PersonIdentity{PersonKey: &id, PersonNumber: &number}
}

// body answers the bytes of what nobody searches: the message without what is
// computed or has columns or tables. A part of which nothing is left stays
// there, empty, for the rest to come back to.
func (r *record) body() ([]byte, error) {
	out := r.clone()
	out.person.PersonIdentity = nil
	detailsOf(out).FullName = ""
	out.hideCurrent()
	for _, l := range lists() {
		l.clear(out)
	}
	for _, s := range scalars() {
		*s.at(out) = ""
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(out.person)
	if err != nil {
		return nil, fmt.Errorf("encode person: %w", err)
	}
	return body, nil
}

// activeOn reports whether a person is active on a day. Without any employment
// status they are.
func (r *record) activeOn(day civil.Date) bool {
	statuses := r.person.GetPersonInformation().GetEmploymentStatusList()
	return len(statuses) == 0 || statusOn(statuses, day, (*commonsv1.EmploymentStatus).GetEmploymentStatusName) == active
}

// statusOn answers the status of a day, "" when there is none.
func statusOn[M dated](list []M, day civil.Date, name func(M) string) string {
	for _, s := range list {
		if rangeOf(datesOf(s)).Contains(day) {
			return name(s)
		}
	}
	return ""
}

// dated is a message with the two dates.
type dated interface {
	GetEffectiveDate() string
	GetExpirationDate() string
}
