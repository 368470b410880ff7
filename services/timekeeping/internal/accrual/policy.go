package accrual

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

const (
	perUnit = 10_000

	// Values of grantFrequency.
	yearly, monthly, once, worked = "YEARLY", "MONTHLY", "ONCE", "WORKED"
	// Values of proration.
	prorateNone, prorateDays, fullMonths, startedMonths = "NONE", "DAYS", "FULL_MONTHS", "STARTED_MONTHS"
)

func prepareProfile(_ string, p *timekeepingv1.AccrualProfile) (*timekeepingv1.AccrualProfile, error) {
	for i, policy := range p.GetAccrualPolicies() {
		if err := preparePolicy(fmt.Sprintf("accrualPolicies[%d]", i), policy); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// preparePolicy checks a policy, and fills in the defaults.
func preparePolicy(path string, policy *timekeepingv1.AccrualPolicy) error {
	if policy.GetAccrualCode() == nil {
		return fault.Invalid(CodeMissing, path+".accrualCode is missing.")
	}
	if policy.GrantAmount == nil {
		return fault.Invalid(CodeMissing, path+".grantAmount is missing.")
	}
	for _, given := range []struct {
		name   string
		amount *float64
	}{
		{"grantAmount", policy.GrantAmount},
		{"carryOverLimit", policy.CarryOverLimit},
		{"workedHoursPerGrant", policy.WorkedHoursPerGrant},
		{"yearlyGrantLimit", policy.YearlyGrantLimit},
	} {
		if _, err := amount(path+"."+given.name, given.amount); err != nil {
			return err
		}
	}
	if policy.YearStart == "" {
		policy.YearStart = "01-01"
	}
	if _, _, err := yearStart(path+".yearStart", policy.GetYearStart()); err != nil {
		return err
	}
	if err := prepareGrant(path, policy); err != nil {
		return err
	}
	if policy.GetCarryOverUntil() != "" {
		if policy.CarryOverMonths != nil {
			return invalid("%s has carryOverUntil and carryOverMonths: send one of them", path)
		}
		if _, _, err := monthAndDay(policy.GetCarryOverUntil()); err != nil {
			return invalid("%s.carryOverUntil must be the month and the day as MM-DD, and not 02-29", path)
		}
	}
	return nil
}

// prepareGrant checks the grant properties of a policy, and fills in the defaults.
func prepareGrant(path string, policy *timekeepingv1.AccrualPolicy) error {
	var err error
	if policy.GrantFrequency, err = parseEnum(path+".grantFrequency", policy.GetGrantFrequency(), yearly, monthly, once, worked); err != nil {
		return err
	}
	if policy.GetGrantFrequency() == worked {
		if policy.WorkedHoursPerGrant == nil {
			return fault.Invalid(CodeMissing, path+".workedHoursPerGrant is missing.")
		}
		if policy.GetWorkedHoursPerGrant() <= 0 {
			return invalid("%s.workedHoursPerGrant must be more than 0", path)
		}
	} else if policy.WorkedHoursPerGrant != nil || policy.YearlyGrantLimit != nil {
		return invalid("%s: workedHoursPerGrant and yearlyGrantLimit need the grantFrequency %s", path, worked)
	}
	if frequency := policy.GetGrantFrequency(); frequency != yearly && frequency != monthly {
		if policy.GetProration() != "" || policy.GetProrateLeavers() {
			return invalid("%s: proration and prorateLeavers need the grantFrequency %s or %s", path, yearly, monthly)
		}
		return nil
	}
	if policy.GetProration() == "" {
		policy.Proration = defaultProration(policy)
	}
	if policy.Proration, err = parseEnum(path+".proration", policy.GetProration(), prorateNone, prorateDays, fullMonths, startedMonths); err != nil {
		return err
	}
	if policy.GetProrateLeavers() && policy.GetProration() == prorateNone {
		return invalid("%s: prorateLeavers needs a proration other than %s", path, prorateNone)
	}
	return nil
}

// defaultProration returns the proration of a policy that specifies none.
func defaultProration(policy *timekeepingv1.AccrualPolicy) string {
	if policy.GetGrantFrequency() == monthly {
		return fullMonths
	}
	return prorateDays
}

// amount converts an amount of a policy to an exact number; nil stays nil.
func amount(path string, given *float64) (*big.Rat, error) {
	if given == nil {
		return nil, nil
	}
	n, ok := new(big.Rat).SetString(strconv.FormatFloat(*given, 'f', -1, 64))
	if !ok || !new(big.Rat).Mul(n, big.NewRat(perUnit, 1)).IsInt() {
		return nil, invalid("%s must have at most four decimals", path)
	}
	return n, nil
}

// yearStart parses the month and the day on which a policy year begins. The day must exist in every
// year.
func yearStart(path, text string) (month, day int, err error) {
	if month, day, err = monthAndDay(text); err != nil || day > 28 {
		return 0, 0, invalid("%s must be the month and the day as MM-DD, the day from 01 to 28", path)
	}
	return month, day, nil
}

// monthAndDay parses MM-DD; the day must exist in every year.
func monthAndDay(text string) (month, day int, err error) {
	const commonYear = "2001-"
	date, err := civil.ParseDate(commonYear + text)
	if err == nil && len(text) != len("01-01") {
		err = fmt.Errorf("%q is not a month and a day", text)
	}
	_, m, day := date.Civil()
	return int(m), day, err
}
