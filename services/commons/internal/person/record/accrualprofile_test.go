package record

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// accrual is an accrual profile: name, first day, and end.
type accrual [3]string

func withAccruals(stored accrual, list ...accrual) *Record {
	r := &Record{Message: &commonsv1.Person{PersonInformation: &commonsv1.PersonInformation{Person: &commonsv1.PersonDetails{
		HireDate: "2021-05-03", AccrualProfileName: stored[0], AccrualProfileEffectiveDate: stored[1], AccrualProfileEndDate: stored[2],
	}}}}
	for _, a := range list {
		r.AccrualProfiles = append(r.AccrualProfiles, &commonsv1.ExtensionAccrualProfile{AccrualProfileName: a[0], EffectiveDate: a[1], ExpirationDate: a[2]})
	}
	return r
}

func listAccruals(r *Record) (out []accrual) {
	for _, a := range r.AccrualProfiles {
		out = append(out, accrual{a.GetAccrualProfileName(), a.GetEffectiveDate(), a.GetExpirationDate()})
	}
	return out
}

// Programs of the release before store one accrual profile in the message.
func TestAdoptAccrualProfile(t *testing.T) {
	t.Parallel()
	standard, senior := accrual{"Standard", "2021-05-03", "3000-01-01"}, accrual{"Senior", "2027-01-01", "3000-01-01"}
	for name, c := range map[string]struct {
		stored     accrual
		list, want []accrual
	}{
		"none":                           {accrual{}, nil, nil},
		"a message alone":                {accrual{"Standard", "2022-01-01", ""}, nil, []accrual{{"Standard", "2022-01-01", "3000-01-01"}}},
		"a message without a date":       {accrual{"Standard", "", ""}, nil, []accrual{standard}},
		"a message with an end":          {accrual{"Standard", "2022-01-01", "2023-01-01"}, nil, []accrual{{"Standard", "2022-01-01", "2023-01-01"}}},
		"a message with the end first":   {accrual{"Standard", "2022-01-01", "2021-01-01"}, nil, nil},
		"the last of the list":           {accrual{"Senior", "2027-01-01", ""}, []accrual{{"Standard", "2021-05-03", "2027-01-01"}, senior}, []accrual{{"Standard", "2021-05-03", "2027-01-01"}, senior}},
		"a later change by such program": {accrual{"Senior", "2027-01-01", ""}, []accrual{standard}, []accrual{{"Standard", "2021-05-03", "2027-01-01"}, senior}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := withAccruals(c.stored, c.list...)
			r.AdoptAccrualProfile()
			assert.Equal(t, c.want, listAccruals(r))
			assert.Empty(t, r.Details().GetAccrualProfileName(), "the list has it")
		})
	}
}

// A body keeps the last accrual profile, so that reading it again changes nothing.
func TestBodiesKeepTheLastAccrualProfile(t *testing.T) {
	t.Parallel()
	r := withAccruals(accrual{}, accrual{"Standard", "2021-05-03", "2027-01-01"}, accrual{"Senior", "2027-01-01", "3000-01-01"})
	r.keepLastAccrualProfile()
	assert.Equal(t, "Senior", r.Details().GetAccrualProfileName())
	assert.Equal(t, "2027-01-01", r.Details().GetAccrualProfileEffectiveDate())
	assert.Equal(t, "3000-01-01", r.Details().GetAccrualProfileEndDate())
	before := listAccruals(r)
	r.AdoptAccrualProfile()
	assert.Equal(t, before, listAccruals(r))
}

// A response shows the accrual profile of the day. Sending it back changes nothing.
func TestCurrentAccrualProfile(t *testing.T) {
	t.Parallel()
	r := withAccruals(accrual{}, accrual{"Standard", "2021-05-03", "2027-01-01"}, accrual{"Senior", "2027-01-01", "3000-01-01"})
	for day, want := range map[civil.Date]accrual{
		civil.Of(2026, 12, 31): {"Standard", "2021-05-03", "2027-01-01"},
		civil.Of(2027, 1, 1):   {"Senior", "2027-01-01", "3000-01-01"},
		civil.Of(2020, 1, 1):   {"Standard", "2021-05-03", "2027-01-01"},
	} {
		t.Run(day.String(), func(t *testing.T) {
			t.Parallel()
			shown := r.Clone()
			shown.FillCurrent(day)
			d := shown.Details()
			assert.Equal(t, want, accrual{d.GetAccrualProfileName(), d.GetAccrualProfileEffectiveDate(), d.GetAccrualProfileEndDate()})
			shown.ClearUnchanged(r)
			assert.Empty(t, d.GetAccrualProfileName())
		})
	}
}

// A first accrual profile without a date applies from the hire date on.
func TestFirstAccrualProfile(t *testing.T) {
	t.Parallel()
	sent := withAccruals(accrual{"Standard", "", ""})
	sent.ClearUnchanged(withAccruals(accrual{}))
	assert.Equal(t, "2021-05-03", sent.Details().GetAccrualProfileEffectiveDate())
	later := withAccruals(accrual{"Senior", "", ""})
	later.ClearUnchanged(withAccruals(accrual{}, accrual{"Standard", "2021-05-03", "3000-01-01"}))
	assert.Empty(t, later.Details().GetAccrualProfileEffectiveDate(), "another one from today on")
}
