// Package leavecasepolicy applies the leave setup of the tenant to leave cases and employees:
// rules, custom fields, grants and profiles.
package leavecasepolicy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Our own codes of the leave setup on cases.
const (
	// CodeNotInProfile (400): the rule, leave type or custom field is inactive, or does not belong
	// to the category of the case in the leave profile of the employee.
	CodeNotInProfile = "WRL-20811"
	// CodeRuleDay (400): the case already has another rule that starts on that day, or the maximum
	// number of rules, or the day is outside the case.
	CodeRuleDay = "WRL-20812"
	// CodeCaseRuleUnknown (404): the rule of the case does not exist, or the caller cannot see it.
	CodeCaseRuleUnknown = "WRL-20813"
	// CodeRequired (400): a case must keep its value of a required custom field.
	CodeRequired = "WRL-20814"
)

// maxRules is the maximum number of rules of a case.
const maxRules = 200

// CaseRules serves LeaveCaseRuleService.
type CaseRules struct {
	timekeepingv1.UnsafeLeaveCaseRuleServiceServer
	pool    *pg.Pool
	persons *person.Directory
	edits   leavecase.Edits
	report  leavecase.Report
}

// NewCaseRules returns the rules of cases in the database of the pool. It calls report after each
// commit that may have changed leave edits.
func NewCaseRules(pool *pg.Pool, persons *person.Directory, edits leavecase.Edits, report leavecase.Report) *CaseRules {
	return &CaseRules{pool: pool, persons: persons, edits: edits, report: report}
}

// caseRule is a stored rule of a case.
type caseRule struct {
	ID, CaseID, RuleID int64
	From               civil.Date
}

func (r caseRule) toProto(c *leavecase.Case, rule *timekeepingv1.LeaveRule) *timekeepingv1.LeaveCaseRule {
	return &timekeepingv1.LeaveCaseRule{
		Id: proto.Int64(r.ID), LeaveCase: c.Ref(), EffectiveDate: r.From.String(),
		Rule: &commonv1.Ref{Id: proto.Int64(r.RuleID), Qualifier: proto.String(rule.GetName()), Name: proto.String(rule.GetName())},
	}
}

// ListLeaveCaseRules returns the rules of a case by their days.
func (h *CaseRules) ListLeaveCaseRules(ctx context.Context, req *timekeepingv1.ListLeaveCaseRulesRequest) (*timekeepingv1.LeaveCaseRuleList, error) {
	out := &timekeepingv1.LeaveCaseRuleList{}
	err := inCase(ctx, h.pool, h.persons, req.LeaveCaseId, req.GetCode(), func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) error {
		rows, err := tx.Query(ctx, `SELECT id, leave_case_id, leave_rule_id, effective_date FROM leave_case_rule
			WHERE tenant_id = $1 AND leave_case_id = $2 ORDER BY effective_date`, tenant.Of(ctx), c.ID)
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[caseRule])
		if err != nil {
			return fmt.Errorf("read rules of a leave case: %w", err)
		}
		for _, r := range list {
			rule, err := leavepolicy.Rules().Get(ctx, tx, r.RuleID)
			if err != nil {
				return err
			}
			out.Items = append(out.Items, r.toProto(c, rule))
		}
		return nil
	})
	return out, err
}

// inCase calls read with the case that a query names, in one snapshot.
func inCase(ctx context.Context, pool *pg.Pool, persons *person.Directory, id *int64, code string, read func(context.Context, pgx.Tx, *leavecase.Case) error) error {
	visible, err := persons.Visible(ctx)
	if err != nil {
		return err
	}
	return pg.InSnapshot(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		c, err := leavecase.OneBy(ctx, tx, visible, id, code)
		if err != nil {
			return err
		}
		return read(ctx, tx, c)
	})
}

// changeCase calls change with a case, which it locks.
func changeCase(ctx context.Context, pool *pg.Pool, persons *person.Directory, ref *commonv1.Ref, change func(context.Context, pgx.Tx, *leavecase.Case) error) error {
	if ref == nil {
		return fault.Invalid(leavecase.CodeCaseMissing, "leaveCase is missing.")
	}
	visible, err := persons.Visible(ctx)
	if err != nil {
		return err
	}
	return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		found, err := leavecase.Find(ctx, tx, visible, []*commonv1.Ref{ref}, true)
		if err != nil {
			return err
		}
		return change(ctx, tx, found[0])
	})
}

// CreateLeaveCaseRule adds a rule to a case, and opens the case.
func (h *CaseRules) CreateLeaveCaseRule(ctx context.Context, req *timekeepingv1.LeaveCaseRule) (*timekeepingv1.LeaveCaseRule, error) {
	if req.Id != nil {
		return nil, fault.Invalid(fault.CodeInput, "A new rule of a leave case must not have an id.")
	}
	return h.save(ctx, req.GetLeaveCase(), func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) (caseRule, *timekeepingv1.LeaveRule, error) {
		return write(ctx, tx, c, caseRule{From: c.Days.From}, req)
	})
}

func (h *CaseRules) save(ctx context.Context, ref *commonv1.Ref, write func(context.Context, pgx.Tx, *leavecase.Case) (caseRule, *timekeepingv1.LeaveRule, error)) (*timekeepingv1.LeaveCaseRule, error) {
	var out *timekeepingv1.LeaveCaseRule
	var employeeID int64
	err := changeCase(ctx, h.pool, h.persons, ref, func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) error {
		employeeID = c.EmployeeID
		c, err := leavecase.Open(ctx, tx, c, h.edits)
		if err != nil {
			return err
		}
		r, rule, err := write(ctx, tx, c)
		if err != nil {
			return err
		}
		out = r.toProto(c, rule)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := h.report(ctx, employeeID); err != nil {
		return nil, err
	}
	return out, nil
}

// write stores the given properties of a rule of a case.
func write(ctx context.Context, tx pgx.Tx, c *leavecase.Case, r caseRule, sent *timekeepingv1.LeaveCaseRule) (caseRule, *timekeepingv1.LeaveRule, error) {
	tenantID := tenant.Of(ctx)
	if text := sent.GetEffectiveDate(); text != "" {
		day, err := civil.ParseDate(text)
		if err != nil {
			return r, nil, fault.Invalid(fault.CodeDate, "effectiveDate: "+err.Error()+".")
		}
		r.From = day
	}
	if !c.Days.Contains(r.From) {
		return r, nil, fault.Invalid(CodeRuleDay, fmt.Sprintf("effectiveDate %s is not a day of leave case %s.", r.From, c.Code()))
	}
	ref := sent.GetRule()
	if ref == nil && r.ID != 0 {
		ref = &commonv1.Ref{Id: proto.Int64(r.RuleID)}
	}
	if ref == nil {
		return r, nil, fault.Invalid(leavepolicy.CodeMissing, "rule is missing.")
	}
	rule, err := leavepolicy.RuleOfCase(ctx, tx, c.EmployeeID, c.Body().GetCategory().GetId(), ref)
	if errors.Is(err, leavepolicy.ErrClosed) {
		return r, nil, fault.Invalid(CodeNotInProfile, "The rule is not active, or not one of the category in the leave profile of the employee.")
	}
	if err != nil {
		return r, nil, err
	}
	r.CaseID, r.RuleID = c.ID, rule.GetId()
	if r.ID == 0 {
		err = tx.QueryRow(ctx, `INSERT INTO leave_case_rule (tenant_id, leave_case_id, leave_rule_id, effective_date)
			SELECT $1, $2, $3, $4 WHERE (SELECT count(*) FROM leave_case_rule WHERE tenant_id = $1 AND leave_case_id = $2) < $5
			RETURNING id`, tenantID, c.ID, r.RuleID, r.From, maxRules).Scan(&r.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			return r, nil, fault.Invalid(CodeRuleDay, fmt.Sprintf("A leave case has at most %d rules.", maxRules))
		}
	} else {
		err = tx.QueryRow(ctx, `UPDATE leave_case_rule SET leave_rule_id = $3, effective_date = $4 WHERE tenant_id = $1 AND id = $2 RETURNING id`,
			tenantID, r.ID, r.RuleID, r.From).Scan(&r.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			return r, nil, fault.NotFound(CodeCaseRuleUnknown, "The rule of the leave case was deleted.")
		}
	}
	if pgerr.IsUnique(err, "leave_case_rule_day") {
		return r, nil, fault.Invalid(CodeRuleDay, fmt.Sprintf("Leave case %s has another rule from %s on. Change that one.", c.Code(), r.From)).WithCause(err)
	}
	if err != nil {
		return r, nil, fmt.Errorf("store a rule of a leave case: %w", err)
	}
	return r, rule, nil
}

// findRule finds the rule of a case by the id in the path, if the employee is visible.
func (h *CaseRules) findRule(ctx context.Context, db pg.Querier, id int64, visible rowvisibility.Set) (caseRule, *leavecase.Case, error) {
	none := fault.NotFound(CodeCaseRuleUnknown, fmt.Sprintf("There is no rule of a leave case with the id %d.", id))
	rows, err := db.Query(ctx, `SELECT id, leave_case_id, leave_rule_id, effective_date FROM leave_case_rule WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), id)
	if err != nil {
		return caseRule{}, nil, err
	}
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[caseRule])
	if errors.Is(err, pgx.ErrNoRows) {
		return r, nil, none
	}
	if err != nil {
		return r, nil, fmt.Errorf("read a rule of a leave case: %w", err)
	}
	cases, err := leavecase.ByIDs(ctx, db, []int64{r.CaseID})
	if err != nil {
		return r, nil, err
	}
	c := cases[r.CaseID]
	switch {
	case c == nil:
		return r, nil, none
	case !visible.Has(c.EmployeeID):
		authn.NoteNotVisible(ctx)
		return r, nil, none
	}
	if refused := visible.RefuseOwn(c.EmployeeID); refused != nil {
		return r, nil, refused
	}
	return r, c, nil
}

// find calls findRule outside a transaction.
func (h *CaseRules) find(ctx context.Context, id int64) (caseRule, *leavecase.Case, error) {
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return caseRule{}, nil, err
	}
	var r caseRule
	var c *leavecase.Case
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		r, c, err = h.findRule(ctx, tx, id, visible)
		return err
	})
	return r, c, err
}

// GetLeaveCaseRule returns one rule of a case, or 404.
func (h *CaseRules) GetLeaveCaseRule(ctx context.Context, req *timekeepingv1.GetLeaveCaseRuleRequest) (*timekeepingv1.LeaveCaseRule, error) {
	r, c, err := h.find(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	rule, err := leavepolicy.Rules().Get(ctx, h.pool, r.RuleID)
	if err != nil {
		return nil, err
	}
	return r.toProto(c, rule), nil
}

// UpdateLeaveCaseRule changes the given properties of a rule of a case.
func (h *CaseRules) UpdateLeaveCaseRule(ctx context.Context, req *timekeepingv1.UpdateLeaveCaseRuleRequest) (*timekeepingv1.LeaveCaseRule, error) {
	sent := req.GetBody()
	if sent.GetId() != 0 && sent.GetId() != req.GetId() {
		return nil, fault.Invalid(leavepolicy.CodeOtherID, "The id in the body is not the id in the path.")
	}
	r, c, err := h.find(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if ref := sent.GetLeaveCase(); ref != nil && ref.GetId() != c.ID && (ref.Id != nil || ref.GetQualifier() != c.Code()) {
		return nil, fault.Invalid(fault.CodeInput, "A rule stays with its leave case. Give the other case a rule of its own.")
	}
	return h.save(ctx, c.Ref(), func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) (caseRule, *timekeepingv1.LeaveRule, error) {
		return write(ctx, tx, c, r, sent)
	})
}

// DeleteLeaveCaseRule removes a rule from a case.
func (h *CaseRules) DeleteLeaveCaseRule(ctx context.Context, req *timekeepingv1.DeleteLeaveCaseRuleRequest) (*emptypb.Empty, error) {
	r, c, err := h.find(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	err = changeCase(ctx, h.pool, h.persons, c.Ref(), func(ctx context.Context, tx pgx.Tx, _ *leavecase.Case) error {
		_, err := tx.Exec(ctx, `DELETE FROM leave_case_rule WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), r.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}
