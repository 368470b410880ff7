package reading

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// decodeHolidays decodes holiday rows, names them in the caller's language, and sorts them by
// start.
func decodeHolidays(ctx context.Context, list []storedrows.Holiday) ([]window.Holiday, error) {
	preferences, language := acceptlanguage.From(ctx), ""
	out := make([]window.Holiday, 0, len(list))
	for _, r := range list {
		var stored commonsv1.HolidayChanged
		if err := proto.Unmarshal(r.Body, &stored); err != nil {
			return nil, fmt.Errorf("schedule: decode holiday %d: %w", r.ID, err)
		}
		if len(stored.GetDates()) != 1 {
			return nil, fmt.Errorf("schedule: holiday %d is stored with %d dates", r.ID, len(stored.GetDates()))
		}
		name, languages := stored.GetName(), make([]string, 0, len(stored.GetTranslations()))
		for _, t := range stored.GetTranslations() {
			languages = append(languages, t.GetLanguage())
		}
		if i := preferences.Choose(languages); i >= 0 {
			name, language = stored.GetTranslations()[i].GetDisplayName(), cmp.Or(language, languages[i])
		}
		date := stored.GetDates()[0]
		fields, err := proto.Marshal(&schedulingv1.ScheduledHoliday{
			Holiday:       &commonv1.Ref{Id: proto.Int64(r.ID), Qualifier: proto.String(stored.GetName())},
			DisplayName:   name,
			StartDateTime: date.GetStartDateTime(), EndDateTime: date.GetEndDateTime(),
		})
		if err != nil {
			return nil, fmt.Errorf("schedule: encode holiday %d: %w", r.ID, err)
		}
		out = append(out, window.Holiday{Start: date.GetStartDateTime(), Days: r.Days, Fields: fields})
	}
	slices.SortStableFunc(out, func(a, b window.Holiday) int { return cmp.Compare(a.Start, b.Start) })
	return out, acceptlanguage.SetContentLanguage(ctx, language)
}
