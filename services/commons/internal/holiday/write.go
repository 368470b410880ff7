package holiday

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// maxHolidays limits the holidays of a tenant.
const maxHolidays = 1000

// change is a transaction that changes holidays. It locks the existing holidays against other
// changes.
type change struct {
	*Handler
	tx     pgx.Tx
	byID   map[int64]*commonsv1.Holiday
	byName map[string]*commonsv1.Holiday
}

// change runs work in a transaction that locks the tenant's holidays and publishes the stored
// ones.
func (h *Handler) change(ctx context.Context, work func(ctx context.Context, c *change) error) error {
	return pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		list, err := kind().AllForUpdate(ctx, tx)
		if err != nil {
			return err
		}
		c := &change{Handler: h, tx: tx, byID: map[int64]*commonsv1.Holiday{}, byName: map[string]*commonsv1.Holiday{}}
		for _, holiday := range list {
			c.record(nil, holiday)
		}
		return work(ctx, c)
	})
}

func (c *change) record(before, now *commonsv1.Holiday) {
	if before != nil {
		delete(c.byName, key(before.GetName()))
	}
	c.byID[now.GetId()], c.byName[key(now.GetName())] = now, now
}

// putHoliday stores a holiday as a replacement or as a new one. If nothing differs, the version
// stays.
func (c *change) putHoliday(ctx context.Context, before, holiday *commonsv1.Holiday) (stored *commonsv1.Holiday, err error) {
	if before != nil && proto.Equal(before, holiday) {
		return holiday, nil
	}
	if other := c.byName[key(holiday.GetName())]; other != nil && other != before {
		return nil, fault.Invalid(CodeTaken, fmt.Sprintf("Another holiday has the name %q. Choose another name.", holiday.GetName()))
	}
	if before == nil && len(c.byID) >= maxHolidays {
		return nil, fault.TooLarge(fault.CodeItemLimit, fmt.Sprintf("There may be at most %d holidays.", maxHolidays))
	}
	// The savepoint undoes only this holiday if it fails and the others are to stay.
	err = pgx.BeginFunc(ctx, c.tx, func(tx pgx.Tx) error {
		if before != nil {
			stored, _, err = kind().Replace(ctx, tx, before.GetId(), holiday, nil)
		} else {
			stored, err = kind().Insert(ctx, tx, holiday)
		}
		if err != nil {
			return err
		}
		return outbox.Append(ctx, tx, changedEvent(stored))
	})
	if err != nil {
		return nil, err
	}
	c.record(before, stored)
	return stored, nil
}

// MultiUpsertHolidays creates holidays and changes existing ones. Without partial_success,
// one error fails the whole request; with it, each item succeeds or fails separately.
func (h *Handler) MultiUpsertHolidays(ctx context.Context, req *commonsv1.MultiUpsertHolidaysRequest) (*commonsv1.HolidayList, error) {
	var outcome *bulk.Outcome[*commonsv1.Holiday, *commonsv1.Holiday]
	err := h.change(ctx, func(ctx context.Context, c *change) (err error) {
		outcome, err = bulk.Run(req.GetBody().GetHolidays(), req.GetPartialSuccess(), func(i int, given *commonsv1.Holiday) (*commonsv1.Holiday, error) {
			return c.upsert(ctx, fmt.Sprintf("[%d]", i), given)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	list := outcome.Successes()
	for _, holiday := range list {
		holiday.Dates = holidayDates(holiday)
	}
	if err := localize(ctx, list...); err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResult(ctx, outcome)
	return &commonsv1.HolidayList{Holidays: done, Failure: failure}, err
}

func (c *change) upsert(ctx context.Context, path string, given *commonsv1.Holiday) (*commonsv1.Holiday, error) {
	before := c.byName[key(given.GetName())]
	if given.Id != nil {
		if before = c.byID[given.GetId()]; before == nil {
			return nil, fault.Invalid(CodeUnknown, fmt.Sprintf("%s.id: there is no holiday with the id %d.", path, given.GetId()))
		}
	}
	if given.Version != nil && before != nil && before.GetVersion() != given.GetVersion() {
		return nil, fault.Conflict(fault.CodeStale, fmt.Sprintf("%s.version is %d, and the holiday has %d. Read it again.", path, given.GetVersion(), before.GetVersion()))
	}
	holiday, err := merge(path, before, given)
	if err != nil {
		return nil, err
	}
	return c.putHoliday(ctx, before, holiday)
}

// find returns the holiday that a reference names. An id takes precedence over a name.
func (c *change) find(path string, ref *commonv1.Ref) (*commonsv1.Holiday, error) {
	switch {
	case ref.Id != nil:
		if found := c.byID[ref.GetId()]; found != nil {
			return found, nil
		}
		return nil, fault.Invalid(CodeUnknown, fmt.Sprintf("%s: there is no holiday with the id %d.", path, ref.GetId()))
	case ref.GetQualifier() != "":
		if found := c.byName[key(ref.GetQualifier())]; found != nil {
			return found, nil
		}
		return nil, fault.Invalid(CodeUnknown, fmt.Sprintf("%s: there is no holiday with the name %.100q.", path, ref.GetQualifier()))
	}
	return nil, fault.New(CodeMissing, http.StatusBadRequest, path+" needs an id or a qualifier.")
}
