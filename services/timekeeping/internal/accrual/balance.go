package accrual

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
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
// code: the grants until then, less the deductions by timecards and schedules until then. It
// returns no balances if the employee has no accrual profile on the day.
func (h *Reader) Balances(ctx context.Context, employeeID int64, day civil.Date) ([]Balance, error) {
	accounts, past, err := h.read(ctx, employeeID, day, day)
	if err != nil {
		return nil, err
	}
	var out []Balance
	for _, a := range accounts {
		shown := a.convertBalance(a.balance(day, past))
		shown.AccrualCode = &commonv1.Ref{Id: a.code.Id, Qualifier: proto.String(a.code.GetName()), Name: proto.String(a.code.GetName())}
		out = append(out, shown)
	}
	return out, nil
}

// read returns the accounts of the accrual profile that an employee has on a day, and the timecard
// data from the first day of the profile until a last day.
func (h *Reader) read(ctx context.Context, employeeID int64, day, last civil.Date) ([]*account, history, error) {
	profile, of, err := h.profile(ctx, employeeID, day)
	if err != nil || profile == "" {
		return nil, history{}, err
	}
	accounts, err := h.accounts(ctx, profile, of)
	if err != nil || len(accounts) == 0 {
		return nil, history{}, err
	}
	if y, _, _ := of.days.From.Civil(); civil.Of(y+maxYears, 12, 31) < day {
		return nil, history{}, fault.Invalid(CodeTooLong, fmt.Sprintf("The accrual profile holds since %s; balances are counted over at most %d years.", of.days.From, maxYears))
	}
	past, err := h.history(ctx, employeeID, civil.Through(of.days.From, last), accounts)
	return accounts, past, err
}

// profile returns the name and the days of the accrual profile that an employee has on a day; the
// name is "" without a profile.
func (h *Reader) profile(ctx context.Context, employeeID int64, day civil.Date) (string, tenure, error) {
	response, err := h.pay.ReadPersonPay(ctx, &commonsv1.ReadPersonPayRequest{
		PersonIds: []int64{employeeID}, From: int32(day), To: int32(day + 1), AccrualProfile: true,
	})
	if err != nil {
		return "", tenure{}, fmt.Errorf("read the accrual profile of an employee: %w", err)
	}
	for _, e := range response.GetPersons() {
		p := e.GetAccrualProfile()
		of := tenure{days: civil.Range{From: civil.Date(p.GetFrom()), To: civil.Date(p.GetTo())}}
		if p == nil || !of.days.Contains(day) {
			continue
		}
		for _, r := range e.GetTerminated() {
			of.terminated = append(of.terminated, civil.Range{From: civil.Date(r.GetFrom()), To: civil.Date(r.GetTo())})
		}
		return p.GetText(), of, nil
	}
	return "", tenure{}, nil
}

// accounts returns the accounts of a profile, by the name of the accrual code. It returns no
// accounts if the profile does not exist.
func (h *Reader) accounts(ctx context.Context, profile string, of tenure) ([]*account, error) {
	var out []*account
	err := pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		found, err := accrualProfiles().Find(ctx, tx, nil, []string{profile})
		if err != nil || len(found) == 0 {
			return err
		}
		codes, err := accrualCodes().All(ctx, tx)
		if err != nil {
			return err
		}
		var refs []*commonv1.Ref
		for _, code := range codes {
			for _, policy := range found[0].GetAccrualPolicies() {
				if policy.GetAccrualCode().GetId() != code.GetId() {
					continue
				}
				a, err := newAccount(policy, code, of)
				if err != nil {
					return fmt.Errorf("accrual profile %d: %w", found[0].GetId(), err)
				}
				out, refs = append(out, a), append(refs, code.GetPayCodes()...)
			}
		}
		return paycode.Kind().NameRefs(ctx, tx, refs...)
	})
	return out, err
}

// history reads the timecard data that the accounts need.
func (h *Reader) history(ctx context.Context, employeeID int64, days civil.Range, accounts []*account) (history, error) {
	var codes []*commonv1.Ref
	needsWork := false
	for _, a := range accounts {
		codes = append(codes, a.code.GetPayCodes()...)
		needsWork = needsWork || a.frequency == worked
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
