package rulesetassignment

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// Directory finds the requested employees that the caller may see, like [projection.Resolver]. Do
// not use it in a transaction.
type Directory interface {
	EachEmployee(ctx context.Context, refs []*commonv1.Ref) (employees []projection.Employee, unknown []*fault.Error, err error)
}

// Handler serves ScheduleRuleSetAssignmentService.
type Handler struct {
	schedulingv1.UnsafeScheduleRuleSetAssignmentServiceServer
	pool      *pg.Pool
	ruleSets  *setup.Kind[*schedulingv1.ScheduleRuleSet]
	directory Directory
}

var _ schedulingv1.ScheduleRuleSetAssignmentServiceServer = (*Handler)(nil)

// New returns a Handler that stores assignments in the database of the pool.
func New(pool *pg.Pool, ruleSets *setup.Kind[*schedulingv1.ScheduleRuleSet], directory Directory) *Handler {
	return &Handler{pool: pool, ruleSets: ruleSets, directory: directory}
}

// ListScheduleRuleSetAssignments returns the assignments of one person.
func (h *Handler) ListScheduleRuleSetAssignments(ctx context.Context, req *schedulingv1.ListScheduleRuleSetAssignmentsRequest) (*schedulingv1.PersonScheduleRuleSetsList, error) {
	if req.PersonKey == nil && req.GetPersonNumber() == "" {
		return nil, fault.Invalid(CodeMissing, "Name the person by person_key or person_number.")
	}
	var inputContext *commonv1.Ref
	if req.ContextId != nil || req.ContextName != nil {
		inputContext = &commonv1.Ref{Id: req.ContextId, Qualifier: req.ContextName}
	}
	refs := []*commonv1.Ref{identityRef(&schedulingv1.SchedulingPersonIdentity{PersonKey: req.PersonKey, PersonNumber: req.PersonNumber})}
	return h.list(ctx, refs, "context", inputContext, "date", req.GetDate(), false)
}

// MultiReadScheduleRuleSetAssignments returns the assignments of the requested persons, in the
// order of the request.
func (h *Handler) MultiReadScheduleRuleSetAssignments(ctx context.Context, req *schedulingv1.MultiReadScheduleRuleSetAssignmentsRequest) (*schedulingv1.PersonScheduleRuleSetsList, error) {
	where := req.GetBody().GetWhere()
	refs, err := parseRefs(where.GetEmployees())
	if err != nil {
		return nil, err
	}
	return h.list(ctx, refs, "where.context", where.GetContext(), "where.date", where.GetDate(), req.GetPartialSuccess())
}

// parseRefs returns the references of a list, which must use exactly one of its three forms.
func parseRefs(list *schedulingv1.SchedulingPersonIdentityList) ([]*commonv1.Ref, error) {
	if err := fault.OneOf(CodeMissing, CodeSeveral, "where.employees", "personKeys, personNumbers and persons",
		len(list.GetPersonKeys()) > 0, len(list.GetPersonNumbers()) > 0, len(list.GetPersons()) > 0); err != nil {
		return nil, err
	}
	var refs []*commonv1.Ref
	for _, key := range list.GetPersonKeys() {
		refs = append(refs, &commonv1.Ref{Id: proto.Int64(key)})
	}
	for _, number := range list.GetPersonNumbers() {
		refs = append(refs, &commonv1.Ref{Qualifier: proto.String(number)})
	}
	for _, identity := range list.GetPersons() {
		refs = append(refs, identityRef(identity))
	}
	return refs, nil
}

func identityRef(identity *schedulingv1.SchedulingPersonIdentity) *commonv1.Ref {
	if identity == nil {
		return &commonv1.Ref{}
	}
	return &commonv1.Ref{Id: identity.PersonKey, Qualifier: identity.PersonNumber}
}

func (h *Handler) list(ctx context.Context, refs []*commonv1.Ref, contextPath string, contextRef *commonv1.Ref, datePath, date string, partial bool) (*schedulingv1.PersonScheduleRuleSetsList, error) {
	var inContext int64
	if contextRef != nil {
		var err error
		if inContext, err = FindContext(contextPath, contextRef); err != nil {
			return nil, err
		}
	}
	var day *civil.Date
	if date != "" {
		parsed, err := civil.ParseDate(date)
		if err != nil {
			return nil, fault.Invalid(CodeDay, datePath+": "+err.Error()+".")
		}
		day = &parsed
	}
	employees, unknown, err := h.directory.EachEmployee(ctx, refs)
	if err != nil {
		return nil, err
	}
	// Read versions first, so that a client that read older assignments gets 409 when it writes.
	ids := knownIDs(employees)
	counted, err := versions(ctx, h.pool, ids)
	if err != nil {
		return nil, err
	}
	assignments, err := read(ctx, h.pool, ids)
	if err != nil {
		return nil, err
	}
	outcome, err := bulk.Run(refs, partial, func(i int, _ *commonv1.Ref) (*schedulingv1.PersonScheduleRuleSets, error) {
		if unknown[i] != nil {
			return nil, unknown[i]
		}
		return message(&employees[i], toProto(assignments[employees[i].ID], inContext, day), counted[employees[i].ID]), nil
	})
	if err != nil {
		return nil, err
	}
	persons, failure, err := rpc.BulkResult(ctx, outcome)
	return &schedulingv1.PersonScheduleRuleSetsList{Persons: persons, Failure: failure}, err
}

func message(e *projection.Employee, list []*schedulingv1.ScheduleRuleSetAssignment, version int64) *schedulingv1.PersonScheduleRuleSets {
	out := &schedulingv1.PersonScheduleRuleSets{
		PersonIdentity: &schedulingv1.SchedulingPersonIdentity{PersonKey: proto.Int64(e.ID), PersonNumber: proto.String(e.PersonNumber)},
		Assignments:    list,
	}
	if version > 0 {
		out.Version = proto.Int64(version)
	}
	return out
}

// knownIDs returns the ids of the employees that were found.
func knownIDs(employees []projection.Employee) []int64 {
	ids := make([]int64, 0, len(employees))
	for i := range employees {
		if employees[i].ID != 0 {
			ids = append(ids, employees[i].ID)
		}
	}
	return ids
}
