package holiday

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func fixed(month, day int32) *commonsv1.HolidayRule {
	return &commonsv1.HolidayRule{FixedDate: &commonsv1.HolidayFixedDate{Month: month, Day: day}}
}

func weekday(month int32, day string, ordinal int32) *commonsv1.HolidayRule {
	return &commonsv1.HolidayRule{Weekday: &commonsv1.HolidayWeekday{Month: month, DayOfWeek: day, Ordinal: ordinal}}
}

func easter(days int32, orthodox bool) *commonsv1.HolidayRule {
	return &commonsv1.HolidayRule{Easter: &commonsv1.HolidayEaster{OffsetDays: days, Orthodox: &orthodox}}
}

func inRegion(region, name string, observed bool) *commonsv1.HolidayRule {
	return &commonsv1.HolidayRule{PublicHoliday: &commonsv1.HolidayPublic{Region: region, Name: name, Observed: &observed}}
}

// The expected days are those of printed calendars.
func TestDayOfARule(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		rule *commonsv1.HolidayRule
		year int32
		want string // "" when it is not in the year
	}{
		{"a fixed date", fixed(12, 25), 2026, "2026-12-25"},
		{"February 29 of a leap year", fixed(2, 29), 2028, "2028-02-29"},
		{"February 29 of another year", fixed(2, 29), 2027, ""},
		{"the fourth Thursday of November", weekday(11, "THURSDAY", 4), 2026, "2026-11-26"},
		{"the last Monday of May", weekday(5, "MONDAY", -1), 2026, "2026-05-25"},
		{"a fifth Sunday that is there", weekday(3, "SUNDAY", 5), 2026, "2026-03-29"},
		{"a fifth Sunday that is not", weekday(4, "SUNDAY", 5), 2026, ""},
		{"a fifth last Sunday that is not", weekday(4, "SUNDAY", -5), 2026, ""},
		{"Easter Monday", easter(1, false), 2026, "2026-04-06"},
		{"Corpus Christi", easter(60, false), 2025, "2025-06-19"},
		{"the latest Easter", easter(0, false), 2038, "2038-04-25"},
		{"the earliest Easter", easter(0, false), 2285, "2285-03-22"},
		{"Orthodox Easter", easter(0, true), 2026, "2026-04-12"},
		{"Ascension in Germany", inRegion("DE", "Christi Himmelfahrt", false), 2026, "2026-05-14"},
		{"Thanksgiving in the United States", inRegion("US", "Thanksgiving Day", false), 2025, "2025-11-27"},
		{"Independence Day on a Saturday", inRegion("US", "Independence Day", false), 2026, "2026-07-04"},
		{"and the Friday that is given for it", inRegion("US", "Independence Day", true), 2026, "2026-07-03"},
		{"what is not known any more", inRegion("US", "Nap Day", false), 2026, ""},
		{"no rule", nil, 2026, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			day, is := dayOf(test.rule, test.year)
			assert.Equal(t, test.want != "", is)
			if is {
				assert.Equal(t, test.want, day.Format(time.DateOnly))
			}
		})
	}
}

// No public holiday that is known makes the program fail, in whatever year.
func TestPublicHolidaysOfAllYears(t *testing.T) {
	t.Parallel()
	for _, region := range regionCodes() {
		t.Run(region, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, regions[region])
			for _, known := range regions[region] {
				rule := inRegion(region, known.Name, false)
				for year := int32(1900); year <= 2999; year += 7 {
					if day, is := dayOf(rule, year); is {
						assert.Equal(t, 0, day.Hour(), "%s %d", known.Name, year)
					}
				}
			}
		})
	}
}
