package person

import (
	"fmt"

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

// keepWages takes away the wages without a rate: their days keep the rates of an
// older record. Days that have none need one.
func (r *record) keepWages(old *record) error {
	job := r.person.GetJobAssignment()
	if job == nil {
		return nil
	}
	var known []civil.Range
	for _, rate := range old.person.GetJobAssignment().GetBaseWageRates() {
		known = append(known, rangeOf(datesOf(rate)))
	}
	var kept []*commonsv1.BaseWageRate
	for i, rate := range job.BaseWageRates {
		switch days := []civil.Range{rangeOf(datesOf(rate))}; {
		case rate.HourlyRate != nil:
			kept = append(kept, rate)
		case len(civil.AppendDifference(nil, days, civil.Normalise(known))) > 0:
			return missing([]property{{path: fmt.Sprintf("jobAssignment.baseWageRates[%d].hourlyRate", i)}})
		}
	}
	job.BaseWageRates = kept
	return nil
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
