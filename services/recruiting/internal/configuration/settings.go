package configuration

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

// Settings serves ConfigurationSettingService.
type Settings struct {
	recruitingv1.UnsafeConfigurationSettingServiceServer

	jobBoards           list[*recruitingv1.JobBoard]
	legalEntities       list[*recruitingv1.LegalEntity]
	orgUnits            list[*recruitingv1.OrgUnit]
	physicalLocations   list[*recruitingv1.PhysicalLocation]
	proficiencyLevels   list[*recruitingv1.ProficiencyLevel]
	recruitingProcesses list[*recruitingv1.RecruitingProcess]
	taxLocations        list[*recruitingv1.TaxLocation]
}

var _ recruitingv1.ConfigurationSettingServiceServer = (*Settings)(nil)

// NewSettings returns the operations on the database of a pool.
func NewSettings(pool *pg.Pool) *Settings {
	return &Settings{
		jobBoards:           newList(JobBoard, pool),
		legalEntities:       newList(LegalEntity, pool),
		orgUnits:            newList(OrgUnit, pool),
		physicalLocations:   newList(PhysicalLocation, pool),
		proficiencyLevels:   newList(ProficiencyLevel, pool),
		recruitingProcesses: newList(RecruitingProcess, pool),
		taxLocations:        newList(TaxLocation, pool),
	}
}

// ListJobBoards returns all job boards, by name.
func (h *Settings) ListJobBoards(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.JobBoardList, error) {
	list, err := h.jobBoards.all(ctx)
	return &recruitingv1.JobBoardList{Items: list}, err
}

// GetJobBoard returns one job board, or 404.
func (h *Settings) GetJobBoard(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*recruitingv1.JobBoard, error) {
	return h.jobBoards.GetGUID(ctx, req.GetId())
}

// CreateJobBoard stores a new job board.
func (h *Settings) CreateJobBoard(ctx context.Context, req *recruitingv1.JobBoard) (*recruitingv1.JobBoard, error) {
	return h.jobBoards.Create(ctx, req)
}

// UpdateJobBoard replaces a job board.
func (h *Settings) UpdateJobBoard(ctx context.Context, req *recruitingv1.UpdateJobBoardRequest) (*recruitingv1.JobBoard, error) {
	return h.jobBoards.UpdateGUID(ctx, req.GetId(), req.GetBody())
}

// ListLegalEntities returns all legal entities, by name.
func (h *Settings) ListLegalEntities(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.LegalEntityList, error) {
	list, err := h.legalEntities.all(ctx)
	return &recruitingv1.LegalEntityList{Items: list}, err
}

// GetLegalEntity returns one legal entity, or 404.
func (h *Settings) GetLegalEntity(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*recruitingv1.LegalEntity, error) {
	return h.legalEntities.GetGUID(ctx, req.GetId())
}

// CreateLegalEntity stores a new legal entity.
func (h *Settings) CreateLegalEntity(ctx context.Context, req *recruitingv1.LegalEntity) (*recruitingv1.LegalEntity, error) {
	return h.legalEntities.Create(ctx, req)
}

// UpdateLegalEntity replaces a legal entity.
func (h *Settings) UpdateLegalEntity(ctx context.Context, req *recruitingv1.UpdateLegalEntityRequest) (*recruitingv1.LegalEntity, error) {
	return h.legalEntities.UpdateGUID(ctx, req.GetId(), req.GetBody())
}

// ListOrgUnits returns all organizational units, by name.
func (h *Settings) ListOrgUnits(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.OrgUnitList, error) {
	list, err := h.orgUnits.all(ctx)
	return &recruitingv1.OrgUnitList{Items: list}, err
}

// GetOrgUnit returns one organizational unit, or 404.
func (h *Settings) GetOrgUnit(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*recruitingv1.OrgUnit, error) {
	return h.orgUnits.GetGUID(ctx, req.GetId())
}

// CreateOrgUnit stores a new organizational unit.
func (h *Settings) CreateOrgUnit(ctx context.Context, req *recruitingv1.OrgUnit) (*recruitingv1.OrgUnit, error) {
	return h.orgUnits.Create(ctx, req)
}

// UpdateOrgUnit replaces an organizational unit.
func (h *Settings) UpdateOrgUnit(ctx context.Context, req *recruitingv1.UpdateOrgUnitRequest) (*recruitingv1.OrgUnit, error) {
	return h.orgUnits.UpdateGUID(ctx, req.GetId(), req.GetBody())
}

// ListPhysicalLocations returns all physical locations, by name.
func (h *Settings) ListPhysicalLocations(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.PhysicalLocationList, error) {
	list, err := h.physicalLocations.all(ctx)
	return &recruitingv1.PhysicalLocationList{Items: list}, err
}

// GetPhysicalLocation returns one physical location, or 404.
func (h *Settings) GetPhysicalLocation(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*recruitingv1.PhysicalLocation, error) {
	return h.physicalLocations.GetGUID(ctx, req.GetId())
}

// CreatePhysicalLocation stores a new physical location.
func (h *Settings) CreatePhysicalLocation(ctx context.Context, req *recruitingv1.PhysicalLocation) (*recruitingv1.PhysicalLocation, error) {
	return h.physicalLocations.Create(ctx, req)
}

// ArchivePhysicalLocation keeps new objects from referring to a physical location, or permits it again.
func (h *Settings) ArchivePhysicalLocation(ctx context.Context, req *recruitingv1.ArchiveConfigurationRequest) (*recruitingv1.PhysicalLocation, error) {
	return h.physicalLocations.archive(ctx, req)
}

// ListProficiencyLevels returns all proficiency levels, by name.
func (h *Settings) ListProficiencyLevels(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.ProficiencyLevelList, error) {
	list, err := h.proficiencyLevels.all(ctx)
	return &recruitingv1.ProficiencyLevelList{Items: list}, err
}

// GetProficiencyLevel returns one proficiency level, or 404.
func (h *Settings) GetProficiencyLevel(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*recruitingv1.ProficiencyLevel, error) {
	return h.proficiencyLevels.GetGUID(ctx, req.GetId())
}

// CreateProficiencyLevel stores a new proficiency level.
func (h *Settings) CreateProficiencyLevel(ctx context.Context, req *recruitingv1.ProficiencyLevel) (*recruitingv1.ProficiencyLevel, error) {
	return h.proficiencyLevels.Create(ctx, req)
}

// UpdateProficiencyLevel replaces a proficiency level.
func (h *Settings) UpdateProficiencyLevel(ctx context.Context, req *recruitingv1.UpdateProficiencyLevelRequest) (*recruitingv1.ProficiencyLevel, error) {
	return h.proficiencyLevels.UpdateGUID(ctx, req.GetId(), req.GetBody())
}

// ListRecruitingProcesses returns all recruiting processes, by name.
func (h *Settings) ListRecruitingProcesses(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.RecruitingProcessList, error) {
	list, err := h.recruitingProcesses.all(ctx)
	return &recruitingv1.RecruitingProcessList{Items: list}, err
}

// GetRecruitingProcess returns one recruiting process, or 404.
func (h *Settings) GetRecruitingProcess(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*recruitingv1.RecruitingProcess, error) {
	return h.recruitingProcesses.GetGUID(ctx, req.GetId())
}

// CreateRecruitingProcess stores a new recruiting process.
func (h *Settings) CreateRecruitingProcess(ctx context.Context, req *recruitingv1.RecruitingProcess) (*recruitingv1.RecruitingProcess, error) {
	return h.recruitingProcesses.Create(ctx, req)
}

// UpdateRecruitingProcess replaces a recruiting process.
func (h *Settings) UpdateRecruitingProcess(ctx context.Context, req *recruitingv1.UpdateRecruitingProcessRequest) (*recruitingv1.RecruitingProcess, error) {
	return h.recruitingProcesses.UpdateGUID(ctx, req.GetId(), req.GetBody())
}

// ListTaxLocations returns all tax locations, by name.
func (h *Settings) ListTaxLocations(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.TaxLocationList, error) {
	list, err := h.taxLocations.all(ctx)
	return &recruitingv1.TaxLocationList{Items: list}, err
}

// GetTaxLocation returns one tax location, or 404.
func (h *Settings) GetTaxLocation(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*recruitingv1.TaxLocation, error) {
	return h.taxLocations.GetGUID(ctx, req.GetId())
}

// CreateTaxLocation stores a new tax location.
func (h *Settings) CreateTaxLocation(ctx context.Context, req *recruitingv1.TaxLocation) (*recruitingv1.TaxLocation, error) {
	return h.taxLocations.Create(ctx, req)
}

// UpdateTaxLocation replaces a tax location.
func (h *Settings) UpdateTaxLocation(ctx context.Context, req *recruitingv1.UpdateTaxLocationRequest) (*recruitingv1.TaxLocation, error) {
	return h.taxLocations.UpdateGUID(ctx, req.GetId(), req.GetBody())
}
