package accrual

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"strconv"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	quantity "github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// Wanted is what is to be taken on a day under a pay code; less than 0 what is given back.
type Wanted struct {
	Day     civil.Date
	PayCode *commonv1.Ref
	quantity.Quantity
	// Checked says that the balances that it takes from must cover all that is wanted.
	Checked bool
}

// Cover refuses what the balances of an employee do not cover: with it, no balance may be less
// than 0 from the first of its checked days until a day. Pay codes that no accrual code of the employee
// takes from are covered. It calls other services, so that it has no place in a transaction.
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
	accounts, past, err := h.read(ctx, tenant.Of(ctx), employeeID, first, until)
	if err != nil || len(accounts) == 0 {
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
	for _, a := range accounts {
		if !a.concerns(wanted) {
			continue
		}
		if day, left := a.lowest(first, until, past); left.Sign() < 0 {
			return fault.Invalid(CodeNotCovered, fmt.Sprintf("The balance of %q does not cover this: on %s it would be %s.", a.code.GetName(), day, a.text(left)))
		}
	}
	return nil
}

// concerns reports whether something that is checked takes from the account.
func (a *account) concerns(wanted []Wanted) bool {
	for _, w := range wanted {
		if w.Checked && w.Quantity != (quantity.Quantity{}) && a.takes(&timekeepingv1.WorkedTimeTotal{PayCode: w.PayCode}) {
			return true
		}
	}
	return false
}

// text writes a balance in the unit of the account.
func (a *account) text(balance *big.Rat) string {
	n, _ := balance.Float64()
	unit := " h"
	if a.inDays {
		unit = " days"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + unit
}
