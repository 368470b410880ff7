package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// equivalent is a full-time equivalent: the percentage, the first day, and the end.
type equivalent struct {
	percent  float64
	from, to string
}

func withFullTime(hired string, list ...equivalent) *Record {
	details := &commonsv1.PersonDetails{HireDate: hired}
	for _, e := range list {
		details.FullTimeEquivalencies = append(details.FullTimeEquivalencies, &commonsv1.FullTimeEquivalency{
			FullTimePercentage: proto.Float64(e.percent), FullTimeStandardHours: proto.Float64(40), EffectiveDate: e.from, ExpirationDate: e.to,
		})
	}
	return &Record{Message: &commonsv1.Person{PersonInformation: &commonsv1.PersonInformation{Person: details}}}
}

func listFullTime(r *Record) (out []equivalent) {
	for _, f := range r.Details().GetFullTimeEquivalencies() {
		out = append(out, equivalent{f.GetFullTimePercentage(), f.GetEffectiveDate(), f.GetExpirationDate()})
	}
	return out
}

// A sent percentage changes the entry of today; the others stay.
func TestExpandFullTime(t *testing.T) {
	t.Parallel()
	const today = "2026-06-01"
	half, full := equivalent{50, "2021-05-03", "2027-01-01"}, equivalent{100, "2027-01-01", "3000-01-01"}
	for name, c := range map[string]struct {
		hired     string
		old, sent []equivalent
		percent   float64
		want      []equivalent
	}{
		"a first one":                      {"2021-05-03", nil, nil, 80, []equivalent{{80, "2021-05-03", "3000-01-01"}}},
		"a first one, before the hire":     {"2027-05-03", nil, nil, 80, []equivalent{{80, "2027-05-03", "3000-01-01"}}},
		"a first one without a hire date":  {"", nil, nil, 80, []equivalent{{80, today, "3000-01-01"}}},
		"from today to the end of its own": {"2021-05-03", []equivalent{half, full}, nil, 80, []equivalent{{50, "2021-05-03", today}, {80, today, "2027-01-01"}, full}},
		"the same as today":                {"2021-05-03", []equivalent{half, full}, nil, 50, []equivalent{half, full}},
		"in a gap":                         {"2021-05-03", []equivalent{full}, nil, 80, []equivalent{{80, today, "2027-01-01"}, full}},
		"an entry of its day":              {"2021-05-03", []equivalent{{50, today, "2027-01-01"}}, nil, 80, []equivalent{{80, today, "2027-01-01"}}},
		"with a list for other days":       {"2021-05-03", nil, []equivalent{full}, 80, []equivalent{{80, "2021-05-03", "2027-01-01"}, full}},
		"with a list for its days":         {"2021-05-03", nil, []equivalent{half, full}, 80, []equivalent{half, full}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			day, err := civil.ParseDate(today)
			assert.NoError(t, err)
			old, sent := withFullTime(c.hired, c.old...), withFullTime("", c.sent...)
			sent.Details().FullTimePercentage = proto.Float64(c.percent)
			if len(c.old) == 0 {
				sent.Details().FullTimeStandardHours = proto.Float64(40)
			}
			sent.ExpandFullTime(old, day)
			old.Merge(sent)
			if name == "in a gap" {
				assert.Nil(t, old.Details().GetFullTimeEquivalencies()[0].FullTimeStandardHours, "no entry has them today")
			}
			assert.Equal(t, c.want, listFullTime(old))
			assert.Nil(t, old.Details().FullTimePercentage)
			old.FillCurrent(day)
			for _, f := range c.want {
				if f.from <= today && today < f.to {
					assert.InDelta(t, f.percent, old.Details().GetFullTimePercentage(), 0)
				}
			}
		})
	}
}

// Programs of the release before store single amounts beside a list without checks.
func TestAdoptFullTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		single     *float64
		list, want []equivalent
	}{
		"none":                     {nil, nil, nil},
		"single amounts":           {proto.Float64(50), nil, []equivalent{{50, "2021-05-03", "3000-01-01"}}},
		"a list and single ones":   {proto.Float64(50), []equivalent{{80, "2022-01-01", "3000-01-01"}}, []equivalent{{80, "2022-01-01", "3000-01-01"}}},
		"entries that overlap":     {nil, []equivalent{{50, "2021-01-01", "2023-01-01"}, {80, "2022-01-01", ""}}, []equivalent{{50, "2021-01-01", "2022-01-01"}, {80, "2022-01-01", "3000-01-01"}}},
		"an entry that is nowhere": {nil, []equivalent{{50, "2021-01-01", "2020-01-01"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := withFullTime("2021-05-03", c.list...)
			r.Details().FullTimePercentage = c.single
			r.AdoptFullTime()
			assert.Equal(t, c.want, listFullTime(r))
			assert.Nil(t, r.Details().FullTimePercentage)
		})
	}
}
