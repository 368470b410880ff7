package candidate

import (
	"context"

	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// ListCandidateComments returns the comments of a candidate.
func (h *Handler) ListCandidateComments(ctx context.Context, req *byID) (*recruitingv1.CandidateCommentList, error) {
	items, err := comments.items(ctx, h, req.GetId())
	return &recruitingv1.CandidateCommentList{Items: items}, err
}

// CreateCandidateComment adds a comment to a candidate. The default author is the person of the caller.
func (h *Handler) CreateCandidateComment(ctx context.Context, req *recruitingv1.CreateCandidateCommentRequest) (*comment, error) {
	c := req.GetBody()
	if c != nil && c.GetAuthor().GetId() == "" {
		c.Author = nil
		if caller := record.Caller(ctx); caller != "" {
			c.Author = &recruitingv1.IdRef{Id: caller}
		}
	}
	if _, err := h.persons.Resolve(ctx, map[string]string{"author.id": c.GetAuthor().GetId()}); err != nil {
		return nil, err
	}
	return comments.add(ctx, h, req.GetId(), c)
}

// ListCandidateBehaviors returns the behaviors of a candidate.
func (h *Handler) ListCandidateBehaviors(ctx context.Context, req *byID) (*recruitingv1.CandidateBehaviorList, error) {
	items, err := behaviors.items(ctx, h, req.GetId())
	return &recruitingv1.CandidateBehaviorList{Items: items}, err
}

// CreateCandidateBehavior adds an item to the behaviors of a candidate.
func (h *Handler) CreateCandidateBehavior(ctx context.Context, req *recruitingv1.CreateCandidateBehaviorRequest) (*behavior, error) {
	return behaviors.add(ctx, h, req.GetId(), req.GetBody())
}

// ListCandidateEducations returns the educations of a candidate.
func (h *Handler) ListCandidateEducations(ctx context.Context, req *byID) (*recruitingv1.CandidateEducationList, error) {
	items, err := educations.items(ctx, h, req.GetId())
	return &recruitingv1.CandidateEducationList{Items: items}, err
}

// CreateCandidateEducation adds an item to the educations of a candidate.
func (h *Handler) CreateCandidateEducation(ctx context.Context, req *recruitingv1.CreateCandidateEducationRequest) (*education, error) {
	return educations.add(ctx, h, req.GetId(), req.GetBody())
}

// ListCandidateMotivations returns the motivations of a candidate.
func (h *Handler) ListCandidateMotivations(ctx context.Context, req *byID) (*recruitingv1.CandidateMotivationList, error) {
	items, err := motivations.items(ctx, h, req.GetId())
	return &recruitingv1.CandidateMotivationList{Items: items}, err
}

// CreateCandidateMotivation adds an item to the motivations of a candidate.
func (h *Handler) CreateCandidateMotivation(ctx context.Context, req *recruitingv1.CreateCandidateMotivationRequest) (*motivation, error) {
	return motivations.add(ctx, h, req.GetId(), req.GetBody())
}

// ListCandidateLicenses returns the licenses of a candidate.
func (h *Handler) ListCandidateLicenses(ctx context.Context, req *byID) (*recruitingv1.CandidateLicenseList, error) {
	items, err := licenses.items(ctx, h, req.GetId())
	return &recruitingv1.CandidateLicenseList{Items: items}, err
}

// CreateCandidateLicense adds an item to the licenses of a candidate.
func (h *Handler) CreateCandidateLicense(ctx context.Context, req *recruitingv1.CreateCandidateLicenseRequest) (*license, error) {
	return licenses.add(ctx, h, req.GetId(), req.GetBody())
}

// ListCandidateSkills returns the skills of a candidate.
func (h *Handler) ListCandidateSkills(ctx context.Context, req *byID) (*recruitingv1.CandidateSkillList, error) {
	items, err := skills.items(ctx, h, req.GetId())
	return &recruitingv1.CandidateSkillList{Items: items}, err
}

// CreateCandidateSkill adds an item to the skills of a candidate.
func (h *Handler) CreateCandidateSkill(ctx context.Context, req *recruitingv1.CreateCandidateSkillRequest) (*skill, error) {
	return skills.add(ctx, h, req.GetId(), req.GetBody())
}

// ListCandidateReferences returns the references of a candidate.
func (h *Handler) ListCandidateReferences(ctx context.Context, req *byID) (*recruitingv1.CandidateReferenceList, error) {
	items, err := references.items(ctx, h, req.GetId())
	return &recruitingv1.CandidateReferenceList{Items: items}, err
}

// CreateCandidateReference adds an item to the references of a candidate.
func (h *Handler) CreateCandidateReference(ctx context.Context, req *recruitingv1.CreateCandidateReferenceRequest) (*reference, error) {
	return references.add(ctx, h, req.GetId(), req.GetBody())
}

// ListCandidateWorkExperience returns the work experience of a candidate.
func (h *Handler) ListCandidateWorkExperience(ctx context.Context, req *byID) (*recruitingv1.CandidateWorkExperienceList, error) {
	items, err := workExperience.items(ctx, h, req.GetId())
	return &recruitingv1.CandidateWorkExperienceList{Items: items}, err
}

// CreateCandidateWorkExperience adds an item to the work experience of a candidate.
func (h *Handler) CreateCandidateWorkExperience(ctx context.Context, req *recruitingv1.CreateCandidateWorkExperienceRequest) (*employment, error) {
	return workExperience.add(ctx, h, req.GetId(), req.GetBody())
}

// GetCandidateReference returns one reference of a candidate, or 404.
func (h *Handler) GetCandidateReference(ctx context.Context, req *recruitingv1.GetCandidateReferenceRequest) (*reference, error) {
	parent, err := h.get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return references.item(ctx, h.pool, parent.ID, req.GetReferenceId())
}

// UpdateCandidateReference replaces a reference of a candidate.
func (h *Handler) UpdateCandidateReference(ctx context.Context, req *recruitingv1.UpdateCandidateReferenceRequest) (*reference, error) {
	return references.replace(ctx, h, req.GetId(), req.GetReferenceId(), req.GetBody())
}
