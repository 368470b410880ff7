package leaveedit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
)

// GrantDay is the number of seconds of a granted day.
const GrantDay = 8 * 3600

// Deduction is the leave that an edit takes from a leave type.
type Deduction struct {
	Type    *timekeepingv1.LeaveType
	Seconds int64
	// Overridden means that the pay code comes from an override segment.
	Overridden bool
}

// policy holds the leave setup of one case: its rules by the day from which they apply, and the
// remaining grants by leave type.
type policy struct {
	from  []civil.Date
	rules []*timekeepingv1.LeaveRule
	left  map[int64]int64
}

// on returns the rule that applies on a day, or nil.
func (p *policy) on(day civil.Date) *timekeepingv1.LeaveRule {
	i, found := slices.BinarySearch(p.from, day)
	if found {
		return p.rules[i]
	}
	if i == 0 {
		return nil
	}
	return p.rules[i-1]
}

// take deducts seconds from leave types in their order, from each as much as remains of its grant.
// A leave type without a grant has no limit. Time that exceeds all leave types is not deducted.
func (p *policy) take(types []*timekeepingv1.LeaveType, seconds int64) []Deduction {
	var out []Deduction
	for _, t := range types {
		part := seconds
		if left, granted := p.left[t.GetId()]; granted {
			part = min(part, left)
			p.left[t.GetId()] = left - part
		}
		if part > 0 {
			out = append(out, Deduction{Type: t, Seconds: part})
		}
		if seconds -= part; seconds == 0 {
			break
		}
	}
	return out
}

// deductions returns the deductions of an edit. Override segments determine the leave types of its paid
// time.
func (p *policy) deductions(r row, types map[int64]*timekeepingv1.LeaveType) []Deduction {
	rule := p.on(r.first)
	if rule == nil {
		return nil
	}
	var out []Deduction
	paid := r.body.GetPaidSegment().GetAmountInSeconds()
	for _, s := range r.body.GetOverrideSegments() {
		for _, t := range byName(types) {
			if t.GetPaid() && samePayCode(t.GetPayCode(), s.GetPayCode()) {
				part := min(paid, s.GetAmountInSeconds())
				for _, deduction := range p.take([]*timekeepingv1.LeaveType{t}, part) {
					deduction.Overridden = true
					out = append(out, deduction)
				}
				paid -= part
				break
			}
		}
	}
	out = append(out, p.take(selectTypes(rule.GetPaidLeaveTypes(), types), paid)...)
	return append(out, p.take(selectTypes(rule.GetTrackingLeaveTypes(), types), r.body.GetTrackingSegment().GetAmountInSeconds())...)
}

func byName(types map[int64]*timekeepingv1.LeaveType) []*timekeepingv1.LeaveType {
	return slices.SortedFunc(maps.Values(types), func(a, b *timekeepingv1.LeaveType) int { return cmp.Compare(a.GetName(), b.GetName()) })
}

func samePayCode(a, b *commonv1.Ref) bool {
	if a == nil {
		return false
	}
	if b.Id != nil {
		return a.GetId() == b.GetId()
	}
	return strings.EqualFold(a.GetQualifier(), b.GetQualifier())
}

func selectTypes(refs []*commonv1.Ref, types map[int64]*timekeepingv1.LeaveType) []*timekeepingv1.LeaveType {
	var out []*timekeepingv1.LeaveType
	for _, ref := range refs {
		if t := types[ref.GetId()]; t != nil {
			out = append(out, t)
		}
	}
	return out
}

// Deductions returns the deductions of the edits of cases, by the id of the edit. Only cases with
// rules have deductions.
func Deductions(ctx context.Context, db pg.Querier, cases []int64) (map[int64][]Deduction, error) {
	return readDeductions(ctx, db, cases, leavecase.MaxRead)
}

// readDeductions implements Deductions with a maximum number of edits.
func readDeductions(ctx context.Context, db pg.Querier, cases []int64, most int) (map[int64][]Deduction, error) {
	policies, err := readPolicies(ctx, db, cases)
	if err != nil || len(policies) == 0 {
		return nil, err
	}
	list, err := leavepolicy.Types().All(ctx, db)
	if err != nil {
		return nil, err
	}
	types := make(map[int64]*timekeepingv1.LeaveType, len(list))
	for _, t := range list {
		types[t.GetId()] = t
	}
	rows, err := ofCases(ctx, db, slices.Sorted(maps.Keys(policies)), most+1)
	if err != nil {
		return nil, err
	}
	if len(rows) > most {
		return nil, errTooMany
	}
	out := make(map[int64][]Deduction, len(rows))
	for _, r := range rows {
		out[r.id] = policies[r.caseID].deductions(r, types)
	}
	return out, nil
}

// readPolicies reads the rules and the remaining grants of the cases that have rules.
func readPolicies(ctx context.Context, db pg.Querier, cases []int64) (map[int64]*policy, error) {
	tenantID := tenant.Of(ctx)
	rows, err := db.Query(ctx, `SELECT leave_case_id, leave_rule_id, effective_date FROM leave_case_rule
		WHERE tenant_id = $1 AND leave_case_id = ANY($2) ORDER BY leave_case_id, effective_date`, tenantID, cases)
	if err != nil {
		return nil, err
	}
	out := map[int64]*policy{}
	ruleIDs := map[int64][]int64{}
	var caseID, ruleID int64
	var from civil.Date
	if _, err := pgx.ForEachRow(rows, []any{&caseID, &ruleID, &from}, func() error {
		if out[caseID] == nil {
			out[caseID] = &policy{left: map[int64]int64{}}
		}
		out[caseID].from, ruleIDs[caseID] = append(out[caseID].from, from), append(ruleIDs[caseID], ruleID)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read rules of leave cases: %w", err)
	}
	if len(out) == 0 {
		return nil, nil
	}
	list, err := leavepolicy.Rules().Find(ctx, db, slices.Concat(slices.Collect(maps.Values(ruleIDs))...), nil)
	if err != nil {
		return nil, err
	}
	rules := make(map[int64]*timekeepingv1.LeaveRule, len(list))
	for _, r := range list {
		rules[r.GetId()] = r
	}
	for caseID, p := range out {
		for _, id := range ruleIDs[caseID] {
			p.rules = append(p.rules, rules[id])
		}
	}
	grants, err := db.Query(ctx, `SELECT leave_case_id, leave_type_id, round(amount * $3)::bigint FROM leave_grant
		WHERE tenant_id = $1 AND leave_case_id = ANY($2)`, tenantID, cases, GrantDay)
	if err != nil {
		return nil, err
	}
	var typeID, seconds int64
	_, err = pgx.ForEachRow(grants, []any{&caseID, &typeID, &seconds}, func() error {
		if p := out[caseID]; p != nil {
			p.left[typeID] = seconds
		}
		return nil
	})
	return out, err
}

// Sum adds up deductions: the paid and tracked totals, and the totals by leave type, sorted by
// name.
func Sum(deductions []Deduction) (paid, tracking int64, totals []*timekeepingv1.LeaveTypeTotal) {
	byType := map[int64]*timekeepingv1.LeaveTypeTotal{}
	for _, t := range deductions {
		if t.Type.GetPaid() {
			paid += t.Seconds
		} else {
			tracking += t.Seconds
		}
		total := byType[t.Type.GetId()]
		if total == nil {
			name := t.Type.GetName()
			total = &timekeepingv1.LeaveTypeTotal{
				LeaveType: &commonv1.Ref{Id: t.Type.Id, Qualifier: &name, Name: &name},
				Paid:      proto.Bool(t.Type.GetPaid()), AmountInSeconds: proto.Int64(0),
			}
			byType[t.Type.GetId()] = total
			totals = append(totals, total)
		}
		*total.AmountInSeconds += t.Seconds
	}
	slices.SortFunc(totals, func(a, b *timekeepingv1.LeaveTypeTotal) int {
		return cmp.Compare(a.GetLeaveType().GetQualifier(), b.GetLeaveType().GetQualifier())
	})
	return paid, tracking, totals
}

// deductionsToProto converts deductions to the form of responses.
func deductionsToProto(deductions []Deduction) []*timekeepingv1.LeaveTaking {
	var out []*timekeepingv1.LeaveTaking
	for _, t := range deductions {
		out = append(out, &timekeepingv1.LeaveTaking{
			AccrualCode: t.Type.GetAccrualCode(), PayCode: t.Type.GetPayCode(),
			AmountInSeconds: proto.Int64(t.Seconds), Paid: proto.Bool(t.Type.GetPaid()),
		})
	}
	return out
}
