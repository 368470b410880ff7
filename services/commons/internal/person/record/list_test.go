package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// A field without a column would be lost between a request and the next response.
func TestEveryFieldOfAnElementHasAColumn(t *testing.T) {
	t.Parallel()
	for _, l := range Lists() {
		t.Run(l.Table, func(t *testing.T) {
			t.Parallel()
			r := &Record{Message: &commonsv1.Person{}}
			kept := map[protoreflect.Name]bool{}
			for _, c := range l.Columns {
				kept[c.fields[0].Name()] = true
			}
			if !l.Undated {
				kept[l.effective.Name()], kept[l.expiration.Name()] = true, true
			}
			fields := l.add(r).Descriptor().Fields()
			for i := range fields.Len() {
				assert.True(t, kept[fields.Get(i).Name()], "no column holds %s", fields.Get(i).FullName())
			}
			assert.Len(t, l.Elements(r), 1)
			l.Clear(r)
			assert.Empty(t, l.Elements(r))
		})
	}
}

// Values come back from the database as they went there.
func TestColumnsKeepValues(t *testing.T) {
	t.Parallel()
	rate, flag, empty := 12.5, false, 0.0
	for name, person := range map[string]*commonsv1.Person{
		"nothing": {},
		"texts and dates": {
			PersonInformation: &commonsv1.PersonInformation{
				CustomDataList: []*commonsv1.CustomData{{CustomDataTypeName: "Colour", Text: "red"}},
				CustomDateList: []*commonsv1.CustomDate{{CustomDateTypeName: "Since", Date: "2026-02-28"}},
			},
			GdapAssignments: []*commonsv1.GroupDataAccess{{
				GdapName: "A", Role: "manager_role", DefaultSwitch: &flag,
				EffectiveDate: "2026-01-01", ExpirationDate: "3000-01-01", OriginalEffectiveDate: "2025-01-01",
			}},
		},
		"numbers and messages": {JobAssignment: &commonsv1.JobAssignment{
			BaseWageRates: []*commonsv1.BaseWageRate{
				{HourlyRate: &rate, EffectiveDate: "2026-01-01", ExpirationDate: "2026-02-01"},
				{HourlyRate: &empty, EffectiveDate: "2026-02-01", ExpirationDate: "2026-03-01"},
				{EffectiveDate: "2026-03-01", ExpirationDate: "3000-01-01"},
			},
			PrimaryLaborAccounts: []*commonsv1.PrimaryLaborAccount{{
				OrganizationPath: "Acme/Till", EffectiveDate: "2026-01-01", ExpirationDate: "3000-01-01",
				OrgPathByCriteria: &commonsv1.OrganizationCriteria{OrgNodes: []*commonsv1.OrganizationCriterion{{Attribute: "name", Value: "Till"}}},
			}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := &Record{Message: person}, &Record{Message: &commonsv1.Person{}}
			for _, l := range Lists() {
				for _, e := range l.Elements(from) {
					values := make([]any, len(l.Columns))
					for i, c := range l.Columns {
						var err error
						values[i], err = c.Value(e)
						require.NoError(t, err)
					}
					effective, expiration := "", ""
					if !l.Undated {
						effective, expiration = l.Dates(e)
					}
					require.NoError(t, l.Add(to, effective, expiration, values))
				}
				assert.True(t, EqualElements(l.DatedElements(from), l.DatedElements(to)), l.Path)
			}
			assert.True(t, proto.Equal(person, to.Message), "%v", to.Message)
		})
	}
}
