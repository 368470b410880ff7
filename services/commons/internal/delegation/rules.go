package delegation

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const (
	// CodePerson (400): the person does not exist, or the caller may not see them.
	CodePerson = "WCO-101263"
	// CodeInvalid (400): the delegation lacks a property, or its days are not in order. The
	// message has the details.
	CodeInvalid = "WRL-10601"
	// CodeUnknown (404): no delegation with this id exists that the caller may end.
	CodeUnknown = "WRL-10602"
	// CodeOverlap (409): a delegation between the two persons already covers some of the days.
	// End it first, or choose other days.
	CodeOverlap = "WRL-10603"
	// CodeFull (409): the delegator or the delegate has the maximum number of delegations. End
	// one first.
	CodeFull = "WRL-10604"
	// CodeRole (400): no function access profile has the name of the role.
	CodeRole = "WRL-10605"
	// CodeExceeds (403): the role has more permissions than the delegator, or a caller who does
	// not see all persons names another delegator.
	CodeExceeds = "WRL-10606"
	// CodeNotActive (400): the delegator may not log in, and so cannot delegate. Give the delegator a
	// user account that can log in first.
	CodeNotActive = "WRL-10607"
)

const (
	// writePermission is required to delegate, and to end the delegations of others.
	writePermission = "commons.delegation.write"
	// maxDays limits the duration of a delegation, both days included.
	maxDays = 366
	// maxGiven and maxTaken limit the delegations of a person that have not ended. A delegate
	// who has too many can end them.
	maxGiven, maxTaken = 10, 20
	// retentionDays is the minimum retention of ended delegations. Older ones are removed when
	// the delegator delegates again.
	retentionDays = 366
	maxName       = 1000
)

// parse reads the role and the days of a delegation.
func parse(req *commonsv1.Delegation, today civil.Date) (d delegation, err error) {
	if d.Start, err = day("startDate", req.GetStartDate()); err != nil {
		return d, err
	}
	if d.End, err = day("endDate", req.GetEndDate()); err != nil {
		return d, err
	}
	switch {
	case d.End < d.Start:
		return d, fault.Invalid(CodeInvalid, "endDate: the last day must not be before startDate.")
	case d.End < today:
		return d, fault.Invalid(CodeInvalid, fmt.Sprintf("endDate: %s is over. A delegation ends today, %s, or later.", d.End, today))
	case d.Start < today:
		// A delegation cannot apply to actions of the past.
		return d, fault.Invalid(CodeInvalid, fmt.Sprintf("startDate: %s is over. A delegation starts today, %s, or later.", d.Start, today))
	case d.Start.AddDays(maxDays-1) < d.End:
		return d, fault.Invalid(CodeInvalid, fmt.Sprintf("endDate: a delegation runs for at most %d days.", maxDays))
	}
	if req.Role != nil {
		d.Role = strings.TrimSpace(req.GetRole().GetQualifier())
		if d.Role == "" || len(d.Role) > maxName || strings.ContainsRune(d.Role, 0) {
			return d, fault.Invalid(CodeInvalid, "role: a role is named by the qualifier, the name of a function access profile.")
		}
	}
	return d, nil
}

func day(name, text string) (civil.Date, error) {
	if text == "" {
		return 0, fault.Invalid(CodeInvalid, name+" is required.")
	}
	d, err := civil.ParseDate(text)
	if err != nil {
		return d, fault.Invalid(fault.CodeDate, name+": "+err.Error()+".")
	}
	return d, nil
}

// administers reports whether the user's own profile shows all persons. Access by delegation
// does not count, because it cannot be delegated further.
func administers(p *authn.Principal) bool {
	return rowvisibility.Scope(p.Rows) == rowvisibility.All
}

// checkOthers refuses a delegation that overlaps an existing one or exceeds the limits.
func checkOthers(ctx context.Context, tx pgx.Tx, d delegation, today civil.Date) error {
	var overlap bool
	var given, taken int
	err := tx.QueryRow(ctx, `SELECT
			coalesce(bool_or(delegator_id = $2 AND delegate_id = $3 AND start_date <= $5 AND end_date >= $4), false),
			count(*) FILTER (WHERE delegator_id = $2), count(*) FILTER (WHERE delegate_id = $3)
		FROM delegation WHERE tenant_id = $1 AND (delegator_id = $2 OR delegate_id = $3) AND end_date >= $6`,
		tenant.Of(ctx), d.Delegator, d.Delegate, d.Start, d.End, today).Scan(&overlap, &given, &taken)
	switch {
	case err != nil:
		return fmt.Errorf("read other delegations: %w", err)
	case overlap:
		return fault.Conflict(CodeOverlap, "A delegation between the two persons has some of these days. End it first, or take other days.")
	case given >= maxGiven:
		return fault.Conflict(CodeFull, fmt.Sprintf("The delegator has %d delegations, which is the limit. End one first.", given))
	case taken >= maxTaken:
		return fault.Conflict(CodeFull, fmt.Sprintf("The delegate has %d delegations, which is the limit. End one first.", taken))
	}
	return nil
}
