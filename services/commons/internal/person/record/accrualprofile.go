package record

import (
	"cmp"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// expandAccrualProfile moves the accrual profile of the message into the dated list.
func (r *Record) expandAccrualProfile() {
	if details := r.Details(); details.GetAccrualProfileName() != "" {
		r.AccrualProfiles = append(r.AccrualProfiles, readAccrualProfile(details))
	}
}

func readAccrualProfile(details *commonsv1.PersonDetails) *commonsv1.ExtensionAccrualProfile {
	return &commonsv1.ExtensionAccrualProfile{
		AccrualProfileName: details.GetAccrualProfileName(),
		EffectiveDate:      details.GetAccrualProfileEffectiveDate(), ExpirationDate: details.GetAccrualProfileEndDate(),
	}
}

func clearAccrualProfile(details *commonsv1.PersonDetails) {
	details.AccrualProfileName, details.AccrualProfileEffectiveDate, details.AccrualProfileEndDate = "", "", ""
}

func setAccrualProfile(details *commonsv1.PersonDetails, profile *commonsv1.ExtensionAccrualProfile) {
	details.AccrualProfileName, details.AccrualProfileEffectiveDate = profile.GetAccrualProfileName(), profile.GetEffectiveDate()
	details.AccrualProfileEndDate = profile.GetExpirationDate()
}

// fillAccrualProfile shows the accrual profile that applies on a day, or else the next one.
func (r *Record) fillAccrualProfile(day civil.Date) {
	if profile := current(r.AccrualProfiles, day, EffectiveDates[*commonsv1.ExtensionAccrualProfile]); profile != nil {
		setAccrualProfile(DetailsOrEmpty(r), profile)
	}
}

// clearUnchangedAccrualProfile clears the sent accrual profile if the older record has it. A first
// accrual profile without a date applies from the hire date on.
func (r *Record) clearUnchangedAccrualProfile(old *Record) {
	details := r.Details()
	if details.GetAccrualProfileName() == "" {
		return
	}
	for _, profile := range old.AccrualProfiles {
		end := details.GetAccrualProfileEndDate()
		if profile.GetAccrualProfileName() == details.GetAccrualProfileName() && profile.GetEffectiveDate() == details.GetAccrualProfileEffectiveDate() &&
			(end == "" || end == profile.GetExpirationDate()) {
			clearAccrualProfile(details)
			return
		}
	}
	if details.GetAccrualProfileEffectiveDate() == "" && len(old.AccrualProfiles) == 0 {
		details.AccrualProfileEffectiveDate = cmp.Or(details.GetHireDate(), old.Details().GetHireDate())
	}
}

// keepLastAccrualProfile stores the last accrual profile in the message, too: programs of the release
// before read and write only that one.
func (r *Record) keepLastAccrualProfile() {
	if n := len(r.AccrualProfiles); n > 0 {
		setAccrualProfile(DetailsOrEmpty(r), r.AccrualProfiles[n-1])
	}
}

// AdoptAccrualProfile adds the accrual profile of a stored message to the list, unless the list
// already ends with it: a program of the release before has written it.
func (r *Record) AdoptAccrualProfile() {
	details := r.Details()
	if details.GetAccrualProfileName() == "" {
		return
	}
	if n := len(r.AccrualProfiles); n == 0 || !sameAccrualProfile(r.AccrualProfiles[n-1], readAccrualProfile(details)) {
		profile := readAccrualProfile(details)
		days := CheckedRange(EffectiveDates(profile))
		if hired, err := civil.ParseDate(details.GetHireDate()); err == nil && profile.GetEffectiveDate() == "" {
			days.From = hired.Clamp()
		}
		if !days.Empty() {
			profile.EffectiveDate, profile.ExpirationDate = days.From.String(), days.To.String()
			l := accrualProfiles()
			l.Set(r, overlay(l.DatedElements(r), l.DatedElements(&Record{AccrualProfiles: []*commonsv1.ExtensionAccrualProfile{profile}})))
		}
	}
	clearAccrualProfile(details)
}

func sameAccrualProfile(a, b *commonsv1.ExtensionAccrualProfile) bool {
	return a.GetAccrualProfileName() == b.GetAccrualProfileName() && CheckedRange(EffectiveDates(a)) == CheckedRange(EffectiveDates(b))
}

// accrualProfiles returns the list of accrual profiles.
func accrualProfiles() List {
	return listOutsideMessage("personInformation.person.accrualProfileName", "accrual_profile_assignment", 0,
		func(r *Record) *[]*commonsv1.ExtensionAccrualProfile { return &r.AccrualProfiles }, "accrual_profile_name")
}
