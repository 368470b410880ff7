package holiday

import (
	"context"
	"fmt"
	"slices"

	"github.com/rickar/cal/v2"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// ApplyUpsertHolidayYears selects holidays for years and deselects others. All changes
// succeed or none.
func (h *Handler) ApplyUpsertHolidayYears(ctx context.Context, req *commonsv1.HolidayYearList) (*commonsv1.HolidayList, error) {
	if len(req.GetYears()) == 0 {
		return nil, fault.Invalid(CodeMissing, "The body needs a year with addRefs or removeRefs.")
	}
	var list []*commonsv1.Holiday
	err := h.change(ctx, func(ctx context.Context, c *change) (err error) {
		list, err = c.selectYears(ctx, req.GetYears())
		return err
	})
	if err != nil {
		return nil, err
	}
	return response(ctx, list)
}

func response(ctx context.Context, list []*commonsv1.Holiday) (*commonsv1.HolidayList, error) {
	for _, holiday := range list {
		holiday.Dates = holidayDates(holiday)
	}
	return &commonsv1.HolidayList{Holidays: list}, localize(ctx, list...)
}

// selectYears applies the changes of all years to each named holiday, and then stores it
// once. It returns the holidays in the order of their first mention.
func (c *change) selectYears(ctx context.Context, years []*commonsv1.HolidayYear) ([]*commonsv1.Holiday, error) {
	var order []int64
	after := map[int64]*commonsv1.Holiday{}
	for i, year := range years {
		at := fmt.Sprintf("[%d]", i)
		if err := checkYear(at+".year", year.GetYear()); err != nil {
			return nil, err
		}
		if len(year.GetAddRefs())+len(year.GetRemoveRefs()) == 0 {
			return nil, fault.Invalid(CodeMissing, at+" needs addRefs or removeRefs.")
		}
		named := map[int64]bool{}
		mark := func(path string, refs []*commonv1.Ref, enabled bool) error {
			for k, ref := range refs {
				at := fmt.Sprintf("%s[%d]", path, k)
				holiday, err := c.find(at, ref)
				if err != nil {
					return err
				}
				id := holiday.GetId()
				if named[id] {
					return invalid(at, "names a holiday a second time for the year")
				}
				named[id] = true
				if after[id] == nil {
					order, after[id] = append(order, id), proto.CloneOf(holiday)
				}
				if err := selectYear(at, after[id], year.GetYear(), enabled); err != nil {
					return err
				}
			}
			return nil
		}
		if err := mark(at+".addRefs", year.GetAddRefs(), true); err != nil {
			return nil, err
		}
		if err := mark(at+".removeRefs", year.GetRemoveRefs(), false); err != nil {
			return nil, err
		}
	}
	out := make([]*commonsv1.Holiday, 0, len(order))
	for _, id := range order {
		stored, err := c.putHoliday(ctx, c.byID[id], after[id])
		if err != nil {
			return nil, err
		}
		out = append(out, stored)
	}
	return out, nil
}

// selectYear selects or deselects a holiday for a year.
func selectYear(path string, h *commonsv1.Holiday, year int32, enabled bool) error {
	if enabled && dateIn(h, year) == nil {
		return fault.Invalid(CodeNotInYear, fmt.Sprintf("%s: the holiday %q is not in the year %d. Give it a date there first.", path, h.GetName(), year))
	}
	known := slices.ContainsFunc(h.GetDates(), func(d *commonsv1.HolidayDate) bool { return d.GetYear() == year })
	if !enabled && !known {
		return nil
	}
	if !known && len(h.GetDates()) >= maxYears {
		return invalid(path, "names a holiday that has %d years already", maxYears)
	}
	setDate(h, &commonsv1.HolidayDate{Year: year, Enabled: &enabled})
	return nil
}

// ApplyImportHolidays creates the missing public holidays of a region, and selects all of the
// region's holidays for years.
func (h *Handler) ApplyImportHolidays(ctx context.Context, req *commonsv1.ApplyImportHolidaysRequest) (*commonsv1.HolidayList, error) {
	if err := checkRegion("region", req.GetRegion()); err != nil {
		return nil, err
	}
	for i, year := range req.GetYears() {
		if err := checkYear(fmt.Sprintf("years[%d]", i), year); err != nil {
			return nil, err
		}
	}
	var list []*commonsv1.Holiday
	err := h.change(ctx, func(ctx context.Context, c *change) error {
		list = nil
		names := map[string]bool{}
		for _, known := range regions[req.GetRegion()] {
			if names[key(known.Name)] {
				continue
			}
			names[key(known.Name)] = true
			before := c.findPublic(known)
			after := proto.CloneOf(before)
			if before == nil {
				after = c.newPublic(req.GetRegion(), known.Name, req.Observed)
			}
			if err := selectImported(after, req.GetYears()); err != nil {
				return err
			}
			stored, err := c.putHoliday(ctx, before, after)
			if err != nil {
				return err
			}
			list = append(list, stored)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return response(ctx, list)
}

// findPublic returns the tenant's holiday for a public holiday, or nil: the holiday whose rule names it, in
// any region that has it, or a holiday with its name whose rule names no public holiday.
func (c *change) findPublic(known *cal.Holiday) (found *commonsv1.Holiday) {
	for id, h := range c.byID {
		if rule := h.GetRule().GetPublicHoliday(); rule != nil && public(rule.GetRegion(), rule.GetName()) == known && (found == nil || id < found.GetId()) {
			found = h
		}
	}
	if named := c.byName[key(known.Name)]; found == nil && named.GetRule().GetPublicHoliday() == nil {
		found = named
	}
	return found
}

// newPublic returns a new holiday for a public holiday of a region. Regions have different holidays with the
// same name, such as Thanksgiving Day: the later one has the region in its name.
func (c *change) newPublic(region, name string, observed *bool) *commonsv1.Holiday {
	out := &commonsv1.Holiday{Name: name, Rule: &commonsv1.HolidayRule{
		PublicHoliday: &commonsv1.HolidayPublic{Region: region, Name: name, Observed: observed},
	}}
	if c.byName[key(name)] != nil {
		out.Name = fmt.Sprintf("%s (%s)", name, region)
	}
	return out
}

// selectImported selects a holiday for years, and for a following year if that year's date is
// already observed in one of them. Not every holiday occurs in every year.
func selectImported(h *commonsv1.Holiday, years []int32) error {
	for i, year := range years {
		at := fmt.Sprintf("years[%d]", i)
		if dateIn(h, year) != nil {
			if err := selectYear(at, h, year, true); err != nil {
				return err
			}
		}
		if dateBefore(h, year) != nil {
			if err := selectYear(at, h, year+1, true); err != nil {
				return err
			}
		}
	}
	return nil
}
