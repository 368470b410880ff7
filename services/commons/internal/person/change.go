package person

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// change answers a stored person after what a caller sent of them, and nothing
// else, was changed. An element of a dated list replaces what held on its days;
// without a first day it begins today.
func (r *rules) change(old *record, in *commonsv1.Person, wages []*wageRule, today civil.Date) (*draft, error) {
	sent := (&record{person: in, wageRules: wages}).clone()
	sent.person.PersonIdentity = nil
	if err := checkRequiredParts(sent.person); err != nil {
		return nil, err
	}
	if err := checkSent(sent); err != nil {
		return nil, err
	}
	sent.hideKnown(old)
	sent.keepAddresses(old)
	if err := settle(sent, today); err != nil {
		return nil, err
	}
	if err := keepWages(sent, old); err != nil {
		return nil, err
	}
	asked, err := takeTerms(sent.person, today)
	if err != nil {
		return nil, err
	}
	account := takeAccount(sent.person)
	d := &draft{record: old.clone(), asked: asked}
	hired := sent.details().GetHireDate() != ""
	licensed := timekeepingLicense(sent.person) != ""
	d.apply(sent)
	if err := checkRequiredOnce(d.person); err != nil {
		return nil, err
	}
	if hired {
		d.beginActive()
	}
	if licensed {
		if err := checkLicense(d.record); err != nil {
			return nil, err
		}
	}
	d.account = d.changedAccount(old, account)
	return d, r.complete(d)
}

// changedAccount answers what auth has to be told of the user account, given
// what was sent of it, or nil.
func (d *draft) changedAccount(old *record, sent *account) *account {
	now := &account{
		userName:      userAccountOf(d.record).GetUserName(),
		accessProfile: access(d.record).GetAccessProfileName(),
	}
	if sent != nil {
		now.password = sent.password
	}
	before := userAccountOf(old).GetUserName()
	switch {
	case now.userName == "",
		before == now.userName && now.password == "" && access(old).GetAccessProfileName() == now.accessProfile &&
			old.number() == d.number():
		return nil
	}
	now.known = before != ""
	return now
}

// keepWages takes away the wages without a rate: their days keep the rates of an
// older record. Days that have none need one.
func keepWages(r, old *record) error {
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
