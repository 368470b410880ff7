package holiday

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func fixedDateRule(month, day int32) *commonsv1.HolidayRule {
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

// The expected days come from printed calendars.
func TestDayOfARule(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		rule *commonsv1.HolidayRule
		year int32
		want string // "" when it is not in the year
	}{
		{"a fixed date", fixedDateRule(12, 25), 2026, "2026-12-25"},
		{"February 29 of a leap year", fixedDateRule(2, 29), 2028, "2028-02-29"},
		{"February 29 of another year", fixedDateRule(2, 29), 2027, ""},
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
		{"and the same without a wish", &commonsv1.HolidayRule{PublicHoliday: &commonsv1.HolidayPublic{Region: "US", Name: "Independence Day"}}, 2026, "2026-07-03"},
		{"King's Day on a Sunday", &commonsv1.HolidayRule{PublicHoliday: &commonsv1.HolidayPublic{Region: "NL", Name: "Koningsdag"}}, 2025, "2025-04-26"},
		{"King's Day on a Monday", &commonsv1.HolidayRule{PublicHoliday: &commonsv1.HolidayPublic{Region: "NL", Name: "Koningsdag"}}, 2026, "2026-04-27"},
		{"Christmas Eve in Poland before the law", inRegion("PL", "Wigilia Bożego Narodzenia", false), 2024, ""},
		{"Christmas Eve in Poland", inRegion("PL", "Wigilia Bożego Narodzenia", false), 2025, "2025-12-24"},
		{"Saint Francis in Italy before the law", inRegion("IT", "San Francesco d'Assisi", false), 2025, ""},
		{"Saint Francis in Italy", inRegion("IT", "San Francesco d'Assisi", false), 2026, "2026-10-04"},
		{"Black Consciousness Day before the law", inRegion("BR", "Dia Nacional de Zumbi e da Consciência Negra", false), 2023, ""},
		{"Black Consciousness Day", inRegion("BR", "Dia Nacional de Zumbi e da Consciência Negra", false), 2024, "2024-11-20"},
		{"17 November in Slovakia before the law", inRegion("SK", "Deň boja za slobodu a demokraciu", false), 2024, "2024-11-17"},
		{"17 November in Slovakia", inRegion("SK", "Deň boja za slobodu a demokraciu", false), 2025, ""},
		{"what is not known any more", inRegion("US", "Nap Day", false), 2026, ""},
		{"no rule", nil, 2026, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			day, is := holidayDay(test.rule, test.year)
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
					if day, is := holidayDay(rule, year); is {
						assert.Equal(t, 0, day.Hour(), "%s %d", known.Name, year)
					}
				}
			}
		})
	}
}

func TestAnImportHasWhatIsObservedInTheYear(t *testing.T) {
	t.Parallel()
	newYear := func() *commonsv1.Holiday {
		return &commonsv1.Holiday{Name: "New Year's Day", Rule: &commonsv1.HolidayRule{PublicHoliday: &commonsv1.HolidayPublic{Region: "US", Name: "New Year's Day"}}}
	}
	for _, c := range []struct {
		name  string
		years []int32
		want  []string
	}{
		{"the next one is on a Saturday", []int32{2027}, []string{"2027-01-01T00:00:00", "2027-12-31T00:00:00"}},
		{"both years", []int32{2028, 2027}, []string{"2027-01-01T00:00:00", "2027-12-31T00:00:00"}},
		{"the next one is on a Friday", []int32{2026}, []string{"2026-01-01T00:00:00"}},
		{"the last year", []int32{2999}, []string{"2999-01-01T00:00:00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newYear()
			require.NoError(t, selectImported(h, c.years))
			var got []string
			for _, date := range holidayDates(h) {
				assert.True(t, date.GetEnabled())
				got = append(got, date.GetStartDateTime())
			}
			assert.Equal(t, c.want, got)
			year := c.years[len(c.years)-1]
			assert.Len(t, datesInYear(h, &year), len(c.want))
		})
	}
}
