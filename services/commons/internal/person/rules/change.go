package rules

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// ChangedPerson applies a request to a stored person and changes nothing else. An element of
// a dated list replaces the entries on its days. Without a first day, it starts today.
func (r *Rules) ChangedPerson(old *record.Record, in *commonsv1.Person, wages []*commonsv1.WageWorkRule, today civil.Date) (*Draft, error) {
	sent := (&record.Record{Message: in, WageRules: wages}).Clone()
	sent.Message.PersonIdentity = nil
	if err := fault.Join(checkRequiredParts(sent.Message), checkSent(sent)); err != nil {
		return nil, err
	}
	sent.ClearUnchanged(old)
	sent.FillAddresses(old)
	if err := normalise(sent, today); err != nil {
		return nil, err
	}
	sent.ExpandFullTime(old, today)
	if err := dropWagesWithoutRate(sent, old); err != nil {
		return nil, err
	}
	asked, err := TakeTermRequests(sent.Message, today)
	if err != nil {
		return nil, err
	}
	account := takeUserAccount(sent.Message)
	d := &Draft{Record: old.Clone(), TermRequests: asked}
	hired := sent.Details().GetHireDate() != ""
	licensed := timekeepingLicense(sent.Message) != ""
	badges := sent.Message.GetPersonInformation().GetBadgeAssignments()
	d.Merge(sent)
	if err := refuseSignedWages(old, d.Record); err != nil {
		return nil, err
	}
	if err := checkRequiredOnce(d.Message); err != nil {
		return nil, err
	}
	if hired {
		d.DefaultStatus()
	}
	if licensed {
		if err := checkLicense(d.Record); err != nil {
			return nil, err
		}
	}
	if err := refuseUselessBadges(d.Record, badges); err != nil {
		return nil, err
	}
	d.Account = d.changedAccount(old, account)
	return d, r.complete(d)
}

// changedAccount returns the changes of the user account that auth must receive, or nil. sent
// is the user account in the request.
func (d *Draft) changedAccount(old *record.Record, sent *UserAccount) *UserAccount {
	now := &UserAccount{
		UserName:      record.UserAccountOrEmpty(d.Record).GetUserName(),
		AccessProfile: record.AccessOrEmpty(d.Record).GetAccessProfileName(),
	}
	if sent != nil {
		now.Password = sent.Password
	}
	before := record.UserAccountOrEmpty(old).GetUserName()
	switch {
	case now.UserName == "",
		before == now.UserName && now.Password == "" && record.AccessOrEmpty(old).GetAccessProfileName() == now.AccessProfile &&
			old.Number() == d.Number():
		return nil
	}
	now.Known = before != ""
	return now
}

// refuseSignedWages refuses changes of wages on signed-off days.
func refuseSignedWages(old, changed *record.Record) error {
	if old.SignedOff == nil || record.SameWages(old, changed, civil.Range{From: civil.Beginning, To: *old.SignedOff + 1}) {
		return nil
	}
	return fault.Invalid(CodeSignedOff, fmt.Sprintf("The timecard is signed off through %s. Change wages from a later day on, or remove the sign-off first.", *old.SignedOff))
}

// dropWagesWithoutRate removes wages without a rate, so that their days keep the rates of the
// older record. It refuses them on days that have no rate yet.
func dropWagesWithoutRate(r, old *record.Record) error {
	job := r.Message.GetJobAssignment()
	if job == nil {
		return nil
	}
	var known []civil.Range
	for _, rate := range old.Message.GetJobAssignment().GetBaseWageRates() {
		known = append(known, record.CheckedRange(record.EffectiveDates(rate)))
	}
	var kept []*commonsv1.BaseWageRate
	for i, rate := range job.BaseWageRates {
		switch days := []civil.Range{record.CheckedRange(record.EffectiveDates(rate))}; {
		case rate.HourlyRate != nil:
			kept = append(kept, rate)
		case len(civil.AppendDifference(nil, days, civil.Normalise(known))) > 0:
			return CheckPresent([]Property{{Path: fmt.Sprintf("jobAssignment.baseWageRates[%d].hourlyRate", i)}})
		}
	}
	job.BaseWageRates = kept
	return nil
}
