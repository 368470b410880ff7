package accrual

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"strconv"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	quantity "github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// Wanted is a requested deduction on a day under a pay code; a negative amount gives time back.
type Wanted struct {
	Day     civil.Date
	PayCode *commonv1.Ref
	quantity.Quantity
	// Checked means that the affected balances must cover the whole deduction.
	Checked bool
}

// Cover checks that the balances of an employee cover the requested deductions: with these, no
// balance may be negative from its first checked day until a given day. Pay codes that no accrual
// code of the employee deducts are always covered. Do not call Cover inside a transaction: it calls
// other services.
func (h *Reader) Cover(ctx context.Context, employeeID int64, wanted []Wanted, until civil.Date) error {
	first := civil.Forever
	for _, w := range wanted {
		if until = max(until, w.Day); w.Checked {
			first = min(first, w.Day)
		}
	}
	if first == civil.Forever {
		return nil
	}
	chains, past, err := h.read(ctx, employeeID, first, until)
	if err != nil || len(chains) == 0 {
		return err
	}
	added := map[civil.Date][]*timekeepingv1.WorkedTimeTotal{}
	maps.Copy(added, past.totals)
	for _, w := range wanted {
		t := &timekeepingv1.WorkedTimeTotal{PayCode: w.PayCode, Seconds: w.Seconds}
		if w.Days != 0 {
			t.Days = w.Days.String()
		}
		added[w.Day] = append(added[w.Day][:len(added[w.Day]):len(added[w.Day])], t)
	}
	past.totals = added
	for _, c := range chains {
		if !c.concerns(wanted) {
			continue
		}
		if day, left := c.lowest(first, until, past); left.Sign() < 0 {
			return fault.Invalid(CodeNotCovered, fmt.Sprintf("The balance of %q does not cover this: on %s it would be %s.", c.last().code.GetName(), day, c.last().text(left)))
		}
	}
	return nil
}

// concerns reports whether the account deducts an amount that is checked.
func (a *account) concerns(w Wanted) bool {
	return w.Checked && w.Quantity != (quantity.Quantity{}) && a.takes(&timekeepingv1.WorkedTimeTotal{PayCode: w.PayCode})
}

// text formats a balance in the unit of the account.
func (a *account) text(balance *big.Rat) string {
	n, _ := balance.Float64()
	unit := " h"
	if a.inDays {
		unit = " days"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + unit
}
