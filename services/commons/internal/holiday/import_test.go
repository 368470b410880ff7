package holiday

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// importYear imports a region's holidays for a year, and returns the first day of each holiday in it, by name.
func importYear(ctx context.Context, t *testing.T, h *Handler, region string, year int32) map[string]string {
	t.Helper()
	list, err := h.ApplyImportHolidays(ctx, &commonsv1.ApplyImportHolidaysRequest{Region: region, Years: []int32{year}})
	require.NoError(t, err)
	out := map[string]string{}
	for _, holiday := range list.GetHolidays() {
		for _, date := range holiday.GetDates() {
			if date.GetYear() == year {
				out[holiday.GetName()] = date.GetStartDateTime()[:len("2006-01-02")]
			}
		}
	}
	return out
}

// Countries have holidays with the same name on different days. The values are from the laws of the countries.
func TestImportedHolidaysBelongToTheirRegion(t *testing.T) {
	t.Parallel()
	h, ctx := New(pooltest.New(t)), tenant.With(t.Context(), 1)
	for _, c := range []struct {
		region string
		year   int32
		want   map[string]string
	}{
		{"US", 2030, map[string]string{"Thanksgiving Day": "2030-11-28", "Labor Day": "2030-09-02"}},
		{"CA", 2030, map[string]string{"Thanksgiving Day (CA)": "2030-10-14", "Labour Day": "2030-09-02"}},
		{"NZ", 2031, map[string]string{"Labour Day (NZ)": "2031-10-27"}},
		{"US", 2027, map[string]string{"Christmas Day": "2027-12-24"}},
		{"GB", 2027, map[string]string{"Christmas Day (GB)": "2027-12-27", "Boxing Day (GB)": "2027-12-28"}},
		{"GB", 2026, map[string]string{"Boxing Day (GB)": "2026-12-28"}},
		{"JP", 2026, map[string]string{"Constitution Memorial Day": "2026-05-06"}},
		{"CA", 2031, map[string]string{"Thanksgiving Day (CA)": "2031-10-13"}},
	} {
		// Each import follows the ones before.
		t.Run(c.region, func(t *testing.T) {
			got := importYear(ctx, t, h, c.region, c.year)
			for name, day := range c.want {
				assert.Equal(t, day, got[name], name)
			}
		})
	}
}

// A part of a country selects the holidays of the country, and creates only its own.
func TestAnImportOfAPartKeepsTheHolidaysOfTheCountry(t *testing.T) {
	t.Parallel()
	h, ctx := New(pooltest.New(t)), tenant.With(t.Context(), 1)
	country := importYear(ctx, t, h, "DE", 2026)
	part := importYear(ctx, t, h, "DE-BY", 2026)
	for name, day := range country {
		assert.Equal(t, day, part[name], name)
	}
	assert.Equal(t, "2026-01-06", part["Heilige Drei Könige"])
	all, err := h.ListHolidays(ctx, &commonsv1.ListHolidaysRequest{Year: proto.Int32(2026)})
	require.NoError(t, err)
	assert.Len(t, all.GetHolidays(), len(part))
}

// A holiday with a rule of the tenant's own is selected, and keeps its rule.
func TestAnImportSelectsAHolidayOfTheTenant(t *testing.T) {
	t.Parallel()
	h, ctx := New(pooltest.New(t)), tenant.With(t.Context(), 1)
	_, err := h.MultiUpsertHolidays(ctx, &commonsv1.MultiUpsertHolidaysRequest{Body: &commonsv1.HolidayList{Holidays: []*commonsv1.Holiday{
		{Name: "thanksgiving day", Rule: &commonsv1.HolidayRule{FixedDate: &commonsv1.HolidayFixedDate{Month: 11, Day: 1}}},
	}}})
	require.NoError(t, err)
	assert.Equal(t, "2030-11-01", importYear(ctx, t, h, "US", 2030)["thanksgiving day"])
}
