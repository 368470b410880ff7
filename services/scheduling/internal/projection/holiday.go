package projection

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const (
	deleteHolidays = `DELETE FROM holiday_date WHERE tenant_id = $1 AND holiday_id = ANY($2)`
	insertHolidays = `
INSERT INTO holiday_date (tenant_id, holiday_id, year, from_date, to_date, body)
SELECT $1, u.* FROM unnest($2::bigint[], $3::int[], $4::date[], $5::date[], $6::bytea[]) AS u`
)

// applyHolidays stores the dates of holidays. They affect only reads, and start no propagation.
func applyHolidays(ctx context.Context, tx pgx.Tx, changes []holidayChange) error {
	tenantID := tenant.Of(ctx)
	type row struct {
		ID       int64
		Year     int32
		From, To civil.Date
		Body     []byte
	}
	var keys []int64
	var rows []row
	for _, c := range changes {
		keys = append(keys, c.Key)
		if c.Deleted {
			continue
		}
		for _, date := range c.State.GetDates() {
			first, end, err := holidayDays(date)
			if err != nil {
				return fmt.Errorf("projection: holiday %d: %w", c.Key, err)
			}
			body, err := proto.Marshal(&commonsv1.HolidayChanged{
				Name: c.State.GetName(), Translations: c.State.GetTranslations(), Dates: []*commonsv1.HolidayDate{date},
			})
			if err != nil {
				return fmt.Errorf("projection: encode holiday %d: %w", c.Key, err)
			}
			rows = append(rows, row{c.Key, date.GetYear(), first, end, body})
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteHolidays, tenantID, keys)
	batch.Queue(insertHolidays, pg.Columns(rows, tenantID)...)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store holidays: %w", err)
	}
	return nil
}

// holidayDays returns the first day that a holiday touches, and the day after the last one.
func holidayDays(date *commonsv1.HolidayDate) (from, to civil.Date, err error) {
	const dateTime, day = "2006-01-02T15:04:05", 24 * time.Hour
	start, err := time.Parse(dateTime, date.GetStartDateTime())
	if err != nil {
		return from, to, err
	}
	end, err := time.Parse(dateTime, date.GetEndDateTime())
	if err != nil {
		return from, to, err
	}
	return civil.FromTime(start), civil.FromTime(end.Add(day - 1)), nil
}
