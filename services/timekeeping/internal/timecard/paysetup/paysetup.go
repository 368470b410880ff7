// Package paysetup reads the setup of a tenant that the calculation of timecards needs.
package paysetup

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/workrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// Setup is the setup of a tenant that the calculation of timecards needs.
type Setup struct {
	codesByID   map[int64]*timekeepingv1.PayCode
	codesByName map[string]*timekeepingv1.PayCode
	// The pay codes of work rules.
	workRuleCodesByID   map[int64]*worktime.PayCode
	workRuleCodesByName map[string]*worktime.PayCode
	workRuleIDs         map[int64]bool
	workRuleIDsByName   map[string]int64
	// workCodes are the pay codes that pay rules and work rules refer to.
	workCodes []worktime.PayCode
	// Rules are the pay rules.
	Rules *payrule.Rules
}

// Load reads the setup in a transaction.
func Load(ctx context.Context, tx pgx.Tx) (*Setup, error) {
	codes, err := paycode.Kind().All(ctx, tx)
	if err != nil {
		return nil, err
	}
	s := &Setup{
		codesByID: make(map[int64]*timekeepingv1.PayCode, len(codes)), codesByName: make(map[string]*timekeepingv1.PayCode, len(codes)),
		workRuleCodesByID: map[int64]*worktime.PayCode{}, workRuleCodesByName: map[string]*worktime.PayCode{},
		workRuleIDs: map[int64]bool{}, workRuleIDsByName: map[string]int64{},
	}
	for _, code := range codes {
		s.codesByID[code.GetId()], s.codesByName[strings.ToLower(code.GetName())] = code, code
	}
	former, err := setupname.Former(ctx, tx, setupname.PayCode)
	if err != nil {
		return nil, err
	}
	for name, id := range former {
		if code := s.codesByID[id]; code != nil && s.codesByName[name] == nil {
			s.codesByName[name] = code
		}
	}
	workRules, err := workrule.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, r := range workRules {
		s.workRuleIDs[r.GetId()], s.workRuleIDsByName[strings.ToLower(r.GetName())] = true, r.GetId()
		if r.GetDefaultPayCode() != nil {
			paid := s.workCode(r.GetDefaultPayCode())
			s.workRuleCodesByID[r.GetId()], s.workRuleCodesByName[strings.ToLower(r.GetName())] = &paid, &paid
		}
	}
	if err := s.addFormerWorkRules(ctx, tx); err != nil {
		return nil, err
	}
	list, err := payrule.Kind().All(ctx, tx)
	if err != nil {
		return nil, err
	}
	former, err = setupname.Former(ctx, tx, setupname.PayRule)
	if err != nil {
		return nil, err
	}
	s.Rules, err = payrule.Compile(list, former, s.workCode)
	return s, err
}

// addFormerWorkRules adds the former names of work rules.
func (s *Setup) addFormerWorkRules(ctx context.Context, tx pgx.Tx) error {
	former, err := setupname.Former(ctx, tx, setupname.WorkRule)
	if err != nil {
		return err
	}
	for name, id := range former {
		if _, present := s.workRuleIDsByName[name]; present || !s.workRuleIDs[id] {
			continue
		}
		s.workRuleIDsByName[name] = id
		if paid := s.workRuleCodesByID[id]; paid != nil {
			s.workRuleCodesByName[name] = paid
		}
	}
	return nil
}

// Find returns the pay code that a ref names, or nil if it does not exist. The id has priority.
func (s *Setup) Find(ref *commonv1.Ref) *timekeepingv1.PayCode {
	if ref != nil && ref.Id != nil {
		return s.codesByID[ref.GetId()]
	}
	return s.codesByName[strings.ToLower(ref.GetQualifier())]
}

// PayCode returns the current pay code, or the data of the ref if the pay code does not exist.
func (s *Setup) PayCode(ref *commonv1.Ref) worktime.PayCode {
	if found := s.Find(ref); found != nil {
		return worktime.PayCode{ID: found.GetId(), Name: found.GetName()}
	}
	return worktime.PayCode{ID: ref.GetId(), Name: ref.GetQualifier()}
}

// workCode does the same as PayCode for a pay code of a rule.
func (s *Setup) workCode(ref *commonv1.Ref) worktime.PayCode {
	code := s.PayCode(ref)
	s.workCodes = append(s.workCodes, code)
	return code
}

// PaysWork reports whether a rule can pay work or holidays under one of some pay codes.
func (s *Setup) PaysWork(codes []*commonv1.Ref) bool {
	return slices.ContainsFunc(s.workCodes, func(code worktime.PayCode) bool { return Contains(codes, Ref(code)) })
}

// Contains reports whether a list contains the pay code of a total. It compares ids or, if the
// total has none, names.
func Contains(codes []*commonv1.Ref, ref *commonv1.Ref) bool {
	return slices.ContainsFunc(codes, func(code *commonv1.Ref) bool {
		return ref.GetId() == code.GetId() || ref.Id == nil && strings.EqualFold(ref.GetQualifier(), code.GetQualifier())
	})
}

// Ref returns a ref to a pay code for responses.
func Ref(code worktime.PayCode) *commonv1.Ref {
	ref := &commonv1.Ref{Qualifier: proto.String(code.Name)}
	if code.ID != 0 {
		ref.Id = proto.Int64(code.ID)
	}
	return ref
}

// FindWorkRule returns the id of the work rule with an id or, without one, with a name; nil without
// both. If the work rule does not exist, it returns an error: the work would be paid under a wrong pay
// code.
func (s *Setup) FindWorkRule(id *int64, name string) (*int64, error) {
	switch found, known := s.workRuleIDsByName[strings.ToLower(name)]; {
	case id != nil && !s.workRuleIDs[*id]:
		return nil, timecardfault.Invalid("There is no work rule with the id %d. Create it, or name another one", *id)
	case id != nil || name == "":
		return id, nil
	case !known:
		return nil, timecardfault.Invalid("There is no work rule %q. Create it, or name another one", name)
	default:
		return &found, nil
	}
}

// Booked returns the pay code of a work rule, or nil if the pay rule determines it.
func (s *Setup) Booked(id *int64, name string) *worktime.PayCode {
	if id != nil {
		return s.workRuleCodesByID[*id]
	}
	return s.workRuleCodesByName[strings.ToLower(name)]
}
