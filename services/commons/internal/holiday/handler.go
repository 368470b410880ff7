package holiday

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Handler serves HolidayService.
type Handler struct {
	commonsv1.UnsafeHolidayServiceServer

	pool *pg.Pool
}

var _ commonsv1.HolidayServiceServer = (*Handler)(nil)

// New returns a Handler that stores holidays in the database of the pool.
func New(pool *pg.Pool) *Handler {
	return &Handler{pool: pool}
}

// ListHolidays returns the holidays of the tenant by name: all of them, one year's, or only
// selected or unselected ones.
func (h *Handler) ListHolidays(ctx context.Context, req *commonsv1.ListHolidaysRequest) (*commonsv1.HolidayList, error) {
	if req.Year != nil {
		if err := checkYear("year", req.GetYear()); err != nil {
			return nil, err
		}
	}
	all, err := kind().All(ctx, h.pool)
	if err != nil {
		return nil, err
	}
	var list []*commonsv1.Holiday
	for _, holiday := range all {
		if filterHoliday(holiday, req) {
			list = append(list, holiday)
		}
	}
	return &commonsv1.HolidayList{Holidays: list}, localize(ctx, list...)
}

// filterHoliday reports whether a list includes a holiday, and removes the dates that the
// list does not show.
func filterHoliday(h *commonsv1.Holiday, req *commonsv1.ListHolidaysRequest) bool {
	h.Dates = datesInYear(h, req.Year)
	if req.Year != nil && len(h.GetDates()) == 0 {
		return false
	}
	return req.Enabled == nil || req.GetEnabled() == slices.ContainsFunc(h.GetDates(), (*commonsv1.HolidayDate).GetEnabled)
}

// datesInYear returns the dates of a holiday with their times, in one year or in all stored
// years. A date of the next year that is observed in the year is included.
func datesInYear(h *commonsv1.Holiday, year *int32) []*commonsv1.HolidayDate {
	if year == nil {
		return holidayDates(h)
	}
	var out []*commonsv1.HolidayDate
	for _, date := range []*commonsv1.HolidayDate{dateIn(h, *year), dateBefore(h, *year)} {
		if date != nil {
			out = append(out, date)
		}
	}
	return out
}

// GetHoliday returns one holiday, or 404.
func (h *Handler) GetHoliday(ctx context.Context, req *commonsv1.GetHolidayRequest) (*commonsv1.Holiday, error) {
	holiday, err := kind().Get(ctx, h.pool, req.GetId())
	if err != nil {
		return nil, err
	}
	holiday.Dates = holidayDates(holiday)
	return holiday, localize(ctx, holiday)
}

// DeleteHoliday deletes a holiday, or returns 404.
func (h *Handler) DeleteHoliday(ctx context.Context, req *commonsv1.DeleteHolidayRequest) (*emptypb.Empty, error) {
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		holiday, err := kind().GetForUpdate(ctx, tx, req.GetId())
		if err != nil {
			return err
		}
		version, err := kind().Delete(ctx, tx, holiday, req.Version)
		if err != nil {
			return err
		}
		return outbox.Append(ctx, tx, &commonsv1.HolidayChanged{Id: req.GetId(), Version: version, Deleted: true})
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// localize sets the names in the caller's preferred language, and reports that language in
// the response.
func localize(ctx context.Context, list ...*commonsv1.Holiday) error {
	preferences, language := acceptlanguage.From(ctx), ""
	for _, holiday := range list {
		languages := make([]string, 0, len(holiday.GetTranslations()))
		for _, t := range holiday.GetTranslations() {
			languages = append(languages, t.GetLanguage())
		}
		holiday.DisplayName = holiday.GetName()
		if i := preferences.Choose(languages); i >= 0 {
			holiday.DisplayName = holiday.GetTranslations()[i].GetDisplayName()
			language = cmp.Or(language, languages[i])
		}
	}
	return acceptlanguage.SetContentLanguage(ctx, language)
}

// key returns the form of a name that is used in comparisons.
func key(name string) string { return strings.ToLower(name) }
