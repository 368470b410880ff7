package accrual

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

// maxYears is the maximum number of years that one balance counts.
const maxYears = 50

// Timecards reads the timecards of an employee; [calculation.Reader] implements it.
type Timecards interface {
	// TotalsUnder returns the totals under some pay codes.
	TotalsUnder(ctx context.Context, employeeID int64, days civil.Range, codes []*commonv1.Ref) ([]*timekeepingv1.WorkedTimeTotal, error)
	// WorkedOn returns the seconds worked on past days.
	WorkedOn(ctx context.Context, employeeID int64, days civil.Range) (map[civil.Date]int64, error)
}

// Balance is the remaining balance of an employee under an accrual code.
type Balance struct {
	AccrualCode *commonv1.Ref
	// PayCodes are the pay codes whose hours the accrual code deducts.
	PayCodes []*commonv1.Ref
	// Days and Seconds are the same balance, converted by the hours per day of the accrual code.
	// They are negative if deductions exceed grants.
	Days    float64
	Seconds int64
}

// Reader reads the balances of employees.
type Reader struct {
	pool      *pg.Pool
	timecards Timecards
	pay       commonsv1.PersonPayServiceClient
}

// NewReader returns a Reader of the setup in the database of the pool. It reads the accrual
// profiles of persons from commons.
func NewReader(pool *pg.Pool, timecards Timecards, pay commonsv1.PersonPayServiceClient) *Reader {
	return &Reader{pool: pool, timecards: timecards, pay: pay}
}

// Balances returns the balances of an employee at the end of a day, by the name of the accrual
// code: the grants until then, less the deductions by timecards and schedules until then. A balance
// stays when the accrual profile changes. It returns no balances if the employee has no accrual profile
// on the day.
func (h *Reader) Balances(ctx context.Context, employeeID int64, day civil.Date) ([]Balance, error) {
	chains, past, err := h.read(ctx, employeeID, day, day)
	if err != nil {
		return nil, err
	}
	var out []Balance
	for _, c := range chains {
		code := c.last().code
		shown := c.last().convertBalance(c.balance(day, past))
		shown.AccrualCode = &commonv1.Ref{Id: code.Id, Qualifier: proto.String(code.GetName()), Name: proto.String(code.GetName())}
		out = append(out, shown)
	}
	return out, nil
}

// Daily is the balance of an employee under an accrual code at the end of each of some days.
type Daily struct {
	AccrualCode *timekeepingv1.AccrualCode
	// Hours are the balances of the days, ascending, converted by the hours per day of the code.
	Hours []float64
}

// DailyBalances returns the balances of an employee at the end of each day of a range, by the name of the
// accrual code. It returns no balances if the employee has no accrual profile on the last day.
func (h *Reader) DailyBalances(ctx context.Context, employeeID int64, days civil.Range) ([]Daily, error) {
	last := days.To - 1
	chains, past, err := h.read(ctx, employeeID, last, last)
	if err != nil {
		return nil, err
	}
	out := make([]Daily, len(chains))
	for i, c := range chains {
		out[i] = Daily{AccrualCode: c.last().code, Hours: c.daily(days, past)}
	}
	return out, nil
}

// read returns the accounts of an employee with an accrual profile on a day, and the timecard data from
// the first day of the accounts until a last day.
func (h *Reader) read(ctx context.Context, employeeID int64, day, last civil.Date) ([]chain, history, error) {
	tenures, err := h.tenures(ctx, employeeID, day, last)
	if err != nil || len(tenures) == 0 {
		return nil, history{}, err
	}
	chains, err := h.chains(ctx, tenures, day)
	if err != nil || len(chains) == 0 {
		return nil, history{}, err
	}
	first := tenures[0].days.From
	if y, _, _ := first.Civil(); civil.Of(y+maxYears, 12, 31) < day {
		return nil, history{}, fault.Invalid(CodeTooLong, fmt.Sprintf("The employee has accrual profiles since %s; balances are counted over at most %d years.", first, maxYears))
	}
	past, err := h.history(ctx, employeeID, civil.Through(first, last), chains)
	return chains, past, err
}

// tenures returns the accrual profiles that an employee has until a last day, ascending. It returns none
// if the employee has no accrual profile on a day.
func (h *Reader) tenures(ctx context.Context, employeeID int64, day, last civil.Date) (out []tenure, err error) {
	response, err := h.pay.ReadPersonPay(ctx, &commonsv1.ReadPersonPayRequest{
		PersonIds: []int64{employeeID}, From: int32(day), To: int32(day + 1), AccrualProfile: true,
	})
	if err != nil {
		return nil, fmt.Errorf("read the accrual profiles of an employee: %w", err)
	}
	covered := false
	for _, e := range response.GetPersons() {
		var terminated []civil.Range
		for _, r := range e.GetTerminated() {
			terminated = append(terminated, civil.Range{From: civil.Date(r.GetFrom()), To: civil.Date(r.GetTo())})
		}
		for i, p := range e.GetAccrualProfiles() {
			of := tenure{
				profile: p.GetText(), days: civil.Range{From: civil.Date(p.GetFrom()), To: civil.Date(p.GetTo())},
				terminated: terminated, followed: i+1 < len(e.GetAccrualProfiles()),
			}
			if of.days.From <= last {
				covered = covered || of.days.Contains(day)
				out = append(out, of)
			}
		}
	}
	if !covered {
		return nil, nil
	}
	return out, nil
}

// chains returns the accounts of an employee, by the name of the accrual code. They have the accrual codes
// of the profiles from a day on. Unknown profiles have no accounts.
func (h *Reader) chains(ctx context.Context, tenures []tenure, day civil.Date) (out []chain, err error) {
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		profiles := map[string]*timekeepingv1.AccrualProfile{}
		former, err := setupname.Former(ctx, tx, setupname.AccrualProfile)
		if err != nil {
			return err
		}
		for _, of := range tenures {
			found, err := accrualProfiles().Find(ctx, tx, nil, []string{of.profile})
			if err != nil {
				return err
			}
			if id, ok := former[strings.ToLower(of.profile)]; ok && len(found) == 0 {
				if found, err = accrualProfiles().Find(ctx, tx, []int64{id}, nil); err != nil {
					return err
				}
			}
			if len(found) > 0 {
				profiles[of.profile] = found[0]
			}
		}
		codes, err := accrualCodes().All(ctx, tx)
		if err != nil {
			return err
		}
		var refs []*commonv1.Ref
		for _, code := range codes {
			c, err := newChain(code, tenures, profiles)
			if err != nil {
				return err
			}
			if len(c) > 0 && c.last().days.To > day {
				out, refs = append(out, c), append(refs, code.GetPayCodes()...)
			}
		}
		return paycode.Kind().NameRefs(ctx, tx, refs...)
	})
	return out, err
}

// history reads the timecard data that the accounts need.
func (h *Reader) history(ctx context.Context, employeeID int64, days civil.Range, chains []chain) (history, error) {
	var codes []*commonv1.Ref
	needsWork := false
	for _, c := range chains {
		codes = append(codes, c.last().code.GetPayCodes()...)
		needsWork = needsWork || slices.ContainsFunc(c, func(a *account) bool { return a.frequency == worked })
	}
	list, err := h.timecards.TotalsUnder(ctx, employeeID, days, codes)
	if err != nil {
		return history{}, err
	}
	out := history{totals: map[civil.Date][]*timekeepingv1.WorkedTimeTotal{}}
	for _, t := range list {
		day, err := civil.ParseDate(t.GetDate())
		if err != nil {
			return history{}, err
		}
		out.totals[day] = append(out.totals[day], t)
	}
	if needsWork {
		out.worked, err = h.timecards.WorkedOn(ctx, employeeID, days)
	}
	return out, err
}
