package holiday

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func TestRulesOfPublicHolidaysAreTaken(t *testing.T) {
	t.Parallel()
	for _, region := range regionCodes() {
		for _, known := range regions[region] {
			require.NoError(t, checkRule("rule", inRegion(region, known.Name, false)))
		}
	}
}

func TestMergeKeepsWhatIsNotGiven(t *testing.T) {
	t.Parallel()
	before, err := merge("[0]", nil, &commonsv1.Holiday{
		Name: "Midsummer", Description: "The longest day", Rule: fixedDateRule(6, 24),
		Dates: []*commonsv1.HolidayDate{{Year: 2027, Enabled: proto.Bool(true)}, {Year: 2026, StartDateTime: "2026-06-19T18:00:00"}},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"2026-06-19T18:00:00 2026-06-20T18:00:00 false", "2027-06-24T00:00:00 2027-06-25T00:00:00 true"}, texts(before))

	after, err := merge("[0]", before, &commonsv1.Holiday{
		Dates: []*commonsv1.HolidayDate{{Year: 2026, Enabled: proto.Bool(true)}, {Year: 2025}},
	})
	require.NoError(t, err)
	assert.Equal(t, "Midsummer", after.GetName())
	assert.Equal(t, "The longest day", after.GetDescription())
	assert.Equal(t, []string{
		"2025-06-24T00:00:00 2025-06-25T00:00:00 false", "2026-06-19T18:00:00 2026-06-20T18:00:00 true", "2027-06-24T00:00:00 2027-06-25T00:00:00 true",
	}, texts(after))

	moved, err := merge("[0]", after, &commonsv1.Holiday{Rule: weekday(6, "FRIDAY", -1)})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"2025-06-27T00:00:00 2025-06-28T00:00:00 false", "2026-06-19T18:00:00 2026-06-20T18:00:00 true", "2027-06-25T00:00:00 2027-06-26T00:00:00 true",
	}, texts(moved), "the date that was given stays")
}

func texts(h *commonsv1.Holiday) (out []string) {
	for _, d := range holidayDates(h) {
		selected := " false"
		if d.GetEnabled() {
			selected = " true"
		}
		out = append(out, d.GetStartDateTime()+" "+d.GetEndDateTime()+selected)
	}
	return out
}

func TestHolidaysAreRefused(t *testing.T) {
	t.Parallel()
	date := func(d *commonsv1.HolidayDate) *commonsv1.Holiday {
		return &commonsv1.Holiday{Name: "H", Dates: []*commonsv1.HolidayDate{d}}
	}
	ruled := func(r *commonsv1.HolidayRule) *commonsv1.Holiday { return &commonsv1.Holiday{Name: "H", Rule: r} }
	tests := []struct {
		name  string
		given *commonsv1.Holiday
		code  string
	}{
		{"without a name", &commonsv1.Holiday{Name: " "}, CodeMissing},
		{"in a year without a date", date(&commonsv1.HolidayDate{Year: 2026}), CodeNotInYear},
		{"in no year", date(&commonsv1.HolidayDate{StartDateTime: "2026-01-01T00:00:00"}), CodeInvalid},
		{"in another year", date(&commonsv1.HolidayDate{Year: 2026, StartDateTime: "2027-01-01T00:00:00"}), CodeInvalid},
		{"with an end only", date(&commonsv1.HolidayDate{Year: 2026, EndDateTime: "2026-01-01T00:00:00"}), CodeMissing},
		{"that ends as it begins", date(&commonsv1.HolidayDate{Year: 2026, StartDateTime: "2026-01-01T00:00:00", EndDateTime: "2026-01-01T00:00:00"}), CodeInvalid},
		{"that never ends", date(&commonsv1.HolidayDate{Year: 2026, StartDateTime: "2026-01-01T00:00:00", EndDateTime: "2026-05-01T00:00:00"}), CodeInvalid},
		{"twice in a year", &commonsv1.Holiday{Name: "H", Rule: fixedDateRule(1, 1), Dates: []*commonsv1.HolidayDate{{Year: 2026}, {Year: 2026}}}, CodeInvalid},
		{"with an empty rule", ruled(&commonsv1.HolidayRule{}), CodeRule},
		{"with two rules", ruled(&commonsv1.HolidayRule{FixedDate: fixedDateRule(1, 1).GetFixedDate(), Easter: easter(1, false).GetEaster()}), CodeRule},
		{"on February 30", ruled(fixedDateRule(2, 30)), CodeRule},
		{"in no month", ruled(fixedDateRule(0, 3)), CodeRule},
		{"on no weekday", ruled(weekday(5, "Monday", 1)), CodeRule},
		{"on a sixth Monday", ruled(weekday(5, "MONDAY", 6)), CodeRule},
		{"long after Easter", ruled(easter(400, false)), CodeRule},
		{"in an unknown region", ruled(inRegion("XX", "Nap Day", false)), CodeRegion},
		{"of an unknown name", ruled(inRegion("DE", "Nap Day", false)), CodeRule},
		{"in a language that is none", &commonsv1.Holiday{Name: "H", Translations: []*commonsv1.HolidayTranslation{{Language: "??", DisplayName: "x"}}}, CodeInvalid},
		{"in a language twice", &commonsv1.Holiday{Name: "H", Translations: []*commonsv1.HolidayTranslation{{Language: "de", DisplayName: "x"}, {Language: "DE", DisplayName: "y"}}}, CodeInvalid},
		{"with an empty translation", &commonsv1.Holiday{Name: "H", Translations: []*commonsv1.HolidayTranslation{{Language: "de"}}}, CodeMissing},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := merge("[0]", nil, test.given)
			require.Error(t, err)
			assert.Equal(t, test.code, fault.FromError(err).Code, err.Error())
		})
	}
}
