package holiday

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func kind() *setup.Kind[*commonsv1.Holiday] {
	return setup.NewKind(setup.Declaration[*commonsv1.Holiday]{
		Codes: codes(),
		What:  "holiday",
		Table: "holiday",
		Strip: func(h *commonsv1.Holiday) { h.DisplayName = "" },
	})
}

// changedEvent returns the event with the present state of a holiday.
func changedEvent(h *commonsv1.Holiday) *commonsv1.HolidayChanged {
	out := &commonsv1.HolidayChanged{Id: h.GetId(), Version: h.GetVersion(), Name: h.GetName(), Translations: h.GetTranslations()}
	for _, date := range holidayDates(h) {
		if date.GetEnabled() {
			out.Dates = append(out.Dates, date)
		}
	}
	return out
}

// Topic publishes the holidays to services that keep copies of them.
func Topic() replica.Topic {
	return replica.Topic{
		Event: &commonsv1.HolidayChanged{}, Tenants: replica.TenantsQuery("holiday"),
		Fingerprints: `SELECT id AS key, version AS mark FROM holiday WHERE tenant_id = $1 AND id > $2 AND id <= $3`,
		States: func(ctx context.Context, tx pgx.Tx, wanted []replica.Gap) ([]proto.Message, error) {
			tenantID := tenant.Of(ctx)
			// Lock the rows first, so that they cannot change before their version is raised.
			if _, err := tx.Exec(ctx, `SELECT FROM holiday WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE`,
				tenantID, replica.Keys(wanted)); err != nil {
				return nil, fmt.Errorf("lock holidays: %w", err)
			}
			list, err := kind().Find(ctx, tx, replica.Keys(wanted), nil)
			if err != nil {
				return nil, err
			}
			byID := make(map[int64]*commonsv1.Holiday, len(list))
			for _, h := range list {
				byID[h.GetId()] = h
			}
			events := make([]proto.Message, len(wanted))
			for i, w := range wanted {
				h := byID[w.Key]
				if h == nil {
					events[i] = &commonsv1.HolidayChanged{Id: w.Key, Version: w.Version + 1, Deleted: true}
					continue
				}
				if raised := w.NextVersion(h.GetVersion()); raised != h.GetVersion() {
					h.Version = proto.Int64(raised)
					if _, err := tx.Exec(ctx, `UPDATE holiday SET version = $3 WHERE tenant_id = $1 AND id = $2`, tenantID, w.Key, raised); err != nil {
						return nil, fmt.Errorf("raise the version of holiday %d: %w", w.Key, err)
					}
				}
				events[i] = changedEvent(h)
			}
			return events, nil
		},
	}
}
