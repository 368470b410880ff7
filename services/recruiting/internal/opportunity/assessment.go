package opportunity

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

type assessment = recruitingv1.OpportunityAssessment

var assessments = children[*assessment]{record.Table[*assessment]{Name: "opportunity_assessment", What: "assessment", Unknown: CodeAssessmentUnknown}, "assessments"}

// checkAssessment checks an assessment, and clears the properties that the product sets.
func checkAssessment(a *assessment) error {
	a.Name = strings.TrimSpace(a.GetName())
	var errs []error
	if a.GetName() == "" {
		errs = append(errs, missing("name"))
	}
	if !isAddress(a.GetUrl()) {
		errs = append(errs, notAddress("url"))
	}
	if len(errs) > 0 {
		return fault.Join(errs...)
	}
	a.Id, a.CreatedAt, a.UpdatedAt, a.Links = "", "", "", nil
	return nil
}

// nameError returns the error of a write whose name another assessment may have.
func nameError(err error, a *assessment) error {
	if pgerr.IsUnique(err, "opportunity_assessment_name") {
		return fault.Conflict(CodeAssessmentTaken, fmt.Sprintf("The opportunity has an assessment with the name %q already.", a.GetName())).WithMembers("name")
	}
	return err
}

// ListOpportunityAssessments returns the assessments of an opportunity.
func (h *Handler) ListOpportunityAssessments(ctx context.Context, req *byID) (*recruitingv1.OpportunityAssessmentList, error) {
	list, err := assessments.list(ctx, h, req)
	return &recruitingv1.OpportunityAssessmentList{Items: list}, err
}

// GetOpportunityAssessment returns one assessment of an opportunity, or 404.
func (h *Handler) GetOpportunityAssessment(ctx context.Context, req *recruitingv1.OpportunityAssessmentRequest) (*assessment, error) {
	parent, err := Opportunities.Get(ctx, h.pool, req.GetId(), Visible(ctx))
	if err != nil {
		return nil, err
	}
	r, err := assessments.Get(ctx, h.pool, req.GetAssessmentId(), under(parent.ID))
	if err != nil {
		return nil, err
	}
	return assessments.show(parent.ID, r), nil
}

// CreateOpportunityAssessment adds an assessment to an opportunity.
func (h *Handler) CreateOpportunityAssessment(ctx context.Context, req *recruitingv1.CreateOpportunityAssessmentRequest) (*assessment, error) {
	a := orEmpty(req.GetBody())
	if err := checkAssessment(a); err != nil {
		return nil, err
	}
	out, err := assessments.create(ctx, h, req.GetId(), a, record.Columns{"name": a.GetName()})
	return out, nameError(err, a)
}

// UpdateOpportunityAssessment replaces an assessment of an opportunity.
func (h *Handler) UpdateOpportunityAssessment(ctx context.Context, req *recruitingv1.UpdateOpportunityAssessmentRequest) (*assessment, error) {
	a := orEmpty(req.GetBody())
	if err := checkAssessment(a); err != nil {
		return nil, err
	}
	out, err := assessments.change(ctx, h, req.GetId(), req.GetAssessmentId(),
		func(context.Context, pgx.Tx, *record.Record[*assessment]) (*assessment, record.Columns, error) {
			return a, record.Columns{"name": a.GetName()}, nil
		})
	return out, nameError(err, a)
}

// DeleteOpportunityAssessment deletes an assessment of an opportunity.
func (h *Handler) DeleteOpportunityAssessment(ctx context.Context, req *recruitingv1.OpportunityAssessmentRequest) (*emptypb.Empty, error) {
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		parent, err := lockOpen(ctx, tx, req.GetId())
		if err != nil {
			return err
		}
		r, err := assessments.Lock(ctx, tx, req.GetAssessmentId(), under(parent.ID))
		if err != nil {
			return err
		}
		return assessments.Delete(ctx, tx, r.ID, nil)
	})
	return &emptypb.Empty{}, err
}

// orEmpty returns the body of a request, or an empty one, so that the missing properties are named.
func orEmpty[T proto.Message](body T) T {
	if !body.ProtoReflect().IsValid() {
		return body.ProtoReflect().New().Interface().(T)
	}
	return body
}

func setLinks(m proto.Message, link *recruitingv1.Link) {
	field := m.ProtoReflect().Descriptor().Fields().ByName("links")
	m.ProtoReflect().Clear(field)
	m.ProtoReflect().Mutable(field).List().Append(protoreflect.ValueOfMessage(link.ProtoReflect()))
}
