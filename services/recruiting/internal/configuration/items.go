package configuration

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

// Items serves ConfigurationItemService.
type Items struct {
	recruitingv1.UnsafeConfigurationItemServiceServer

	applicantSources   list[*item]
	behaviors          list[*item]
	dispositionReasons list[*item]
	fieldsOfStudy      list[*item]
	motivations        list[*item]
	prefixes           list[*item]
	suffixes           list[*item]
}

var _ recruitingv1.ConfigurationItemServiceServer = (*Items)(nil)

// NewItems returns the operations on the database of a pool.
func NewItems(pool *pg.Pool) *Items {
	return &Items{
		applicantSources:   newList(ApplicantSource, pool),
		behaviors:          newList(Behavior, pool),
		dispositionReasons: newList(DispositionReason, pool),
		fieldsOfStudy:      newList(FieldOfStudy, pool),
		motivations:        newList(Motivation, pool),
		prefixes:           newList(Prefix, pool),
		suffixes:           newList(Suffix, pool),
	}
}

// ListApplicantSources returns all applicant sources, by name.
func (h *Items) ListApplicantSources(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.ConfigurationItemList, error) {
	list, err := h.applicantSources.all(ctx)
	return &recruitingv1.ConfigurationItemList{Items: list}, err
}

// GetApplicantSource returns one applicant source, or 404.
func (h *Items) GetApplicantSource(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*item, error) {
	return h.applicantSources.GetGUID(ctx, req.GetId())
}

// CreateApplicantSource stores a new applicant source.
func (h *Items) CreateApplicantSource(ctx context.Context, req *item) (*item, error) {
	return h.applicantSources.Create(ctx, req)
}

// ListBehaviors returns all behaviors, by name.
func (h *Items) ListBehaviors(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.ConfigurationItemList, error) {
	list, err := h.behaviors.all(ctx)
	return &recruitingv1.ConfigurationItemList{Items: list}, err
}

// GetBehavior returns one behavior, or 404.
func (h *Items) GetBehavior(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*item, error) {
	return h.behaviors.GetGUID(ctx, req.GetId())
}

// CreateBehavior stores a new behavior.
func (h *Items) CreateBehavior(ctx context.Context, req *item) (*item, error) {
	return h.behaviors.Create(ctx, req)
}

// ArchiveBehavior keeps new objects from referring to a behavior, or permits it again.
func (h *Items) ArchiveBehavior(ctx context.Context, req *recruitingv1.ArchiveConfigurationRequest) (*item, error) {
	return h.behaviors.archive(ctx, req)
}

// ListDispositionReasons returns all disposition reasons, by name.
func (h *Items) ListDispositionReasons(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.ConfigurationItemList, error) {
	list, err := h.dispositionReasons.all(ctx)
	return &recruitingv1.ConfigurationItemList{Items: list}, err
}

// GetDispositionReason returns one disposition reason, or 404.
func (h *Items) GetDispositionReason(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*item, error) {
	return h.dispositionReasons.GetGUID(ctx, req.GetId())
}

// CreateDispositionReason stores a new disposition reason.
func (h *Items) CreateDispositionReason(ctx context.Context, req *item) (*item, error) {
	return h.dispositionReasons.Create(ctx, req)
}

// ListFieldsOfStudy returns all fields of study, by name.
func (h *Items) ListFieldsOfStudy(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.ConfigurationItemList, error) {
	list, err := h.fieldsOfStudy.all(ctx)
	return &recruitingv1.ConfigurationItemList{Items: list}, err
}

// GetFieldOfStudy returns one field of study, or 404.
func (h *Items) GetFieldOfStudy(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*item, error) {
	return h.fieldsOfStudy.GetGUID(ctx, req.GetId())
}

// CreateFieldOfStudy stores a new field of study.
func (h *Items) CreateFieldOfStudy(ctx context.Context, req *item) (*item, error) {
	return h.fieldsOfStudy.Create(ctx, req)
}

// UpdateFieldOfStudy replaces a field of study.
func (h *Items) UpdateFieldOfStudy(ctx context.Context, req *recruitingv1.UpdateConfigurationItemRequest) (*item, error) {
	return h.fieldsOfStudy.UpdateGUID(ctx, req.GetId(), req.GetBody())
}

// ListMotivations returns all motivations, by name.
func (h *Items) ListMotivations(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.ConfigurationItemList, error) {
	list, err := h.motivations.all(ctx)
	return &recruitingv1.ConfigurationItemList{Items: list}, err
}

// GetMotivation returns one motivation, or 404.
func (h *Items) GetMotivation(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*item, error) {
	return h.motivations.GetGUID(ctx, req.GetId())
}

// CreateMotivation stores a new motivation.
func (h *Items) CreateMotivation(ctx context.Context, req *item) (*item, error) {
	return h.motivations.Create(ctx, req)
}

// ArchiveMotivation keeps new objects from referring to a motivation, or permits it again.
func (h *Items) ArchiveMotivation(ctx context.Context, req *recruitingv1.ArchiveConfigurationRequest) (*item, error) {
	return h.motivations.archive(ctx, req)
}

// ListPrefixes returns all prefixes, by name.
func (h *Items) ListPrefixes(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.ConfigurationItemList, error) {
	list, err := h.prefixes.all(ctx)
	return &recruitingv1.ConfigurationItemList{Items: list}, err
}

// GetPrefix returns one prefix, or 404.
func (h *Items) GetPrefix(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*item, error) {
	return h.prefixes.GetGUID(ctx, req.GetId())
}

// CreatePrefix stores a new prefix.
func (h *Items) CreatePrefix(ctx context.Context, req *item) (*item, error) {
	return h.prefixes.Create(ctx, req)
}

// UpdatePrefix replaces a prefix.
func (h *Items) UpdatePrefix(ctx context.Context, req *recruitingv1.UpdateConfigurationItemRequest) (*item, error) {
	return h.prefixes.UpdateGUID(ctx, req.GetId(), req.GetBody())
}

// ListSuffixes returns all suffixes, by name.
func (h *Items) ListSuffixes(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.ConfigurationItemList, error) {
	list, err := h.suffixes.all(ctx)
	return &recruitingv1.ConfigurationItemList{Items: list}, err
}

// GetSuffix returns one suffix, or 404.
func (h *Items) GetSuffix(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*item, error) {
	return h.suffixes.GetGUID(ctx, req.GetId())
}

// CreateSuffix stores a new suffix.
func (h *Items) CreateSuffix(ctx context.Context, req *item) (*item, error) {
	return h.suffixes.Create(ctx, req)
}

// UpdateSuffix replaces a suffix.
func (h *Items) UpdateSuffix(ctx context.Context, req *recruitingv1.UpdateConfigurationItemRequest) (*item, error) {
	return h.suffixes.UpdateGUID(ctx, req.GetId(), req.GetBody())
}
