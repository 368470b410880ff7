package brazil

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Companies serves BrazilCompanyService.
type Companies struct {
	timekeepingv1.UnsafeBrazilCompanyServiceServer
	resource setup.Resource[*timekeepingv1.BrazilCompany]
}

var _ timekeepingv1.BrazilCompanyServiceServer = (*Companies)(nil)

// NewCompanies returns Companies in the database of the pool.
func NewCompanies(pool *pg.Pool) *Companies {
	h := &Companies{}
	h.resource = setup.Resource[*timekeepingv1.BrazilCompany]{
		Kind: setup.NewKind(setup.Declaration[*timekeepingv1.BrazilCompany]{
			Codes: codes(),
			What:  "company",
			Table: "brazil_company",
			Strip: func(c *timekeepingv1.BrazilCompany) { c.DeviceGroup = nil },
		}),
		Pool: pool, Prepare: prepareCompany, AfterStore: h.storeIdentity, Show: h.show,
	}
	return h
}

func prepareCompany(_ string, c *timekeepingv1.BrazilCompany) (*timekeepingv1.BrazilCompany, error) {
	c.IdentifierType = strings.ToUpper(c.GetIdentifierType())
	id := bare(c.GetIdentifier())
	length, good := lenCNPJ, isCNPJ
	switch c.GetIdentifierType() {
	case "CNPJ":
	case "CPF":
		length, good = lenCPF, isCPF
	default:
		return nil, invalid("identifierType must be CNPJ or CPF")
	}
	if len(id) > length {
		return nil, fault.Invalid(CodeTooLong, fmt.Sprintf("identifier must have at most %d characters: a %s has no more.", length, c.GetIdentifierType()))
	}
	if c.Identifier = padIdentifier(id, length); !good(c.GetIdentifier()) {
		return nil, invalid("identifier %q is no %s: its check digits do not fit", c.GetIdentifier(), c.GetIdentifierType())
	}
	var err error
	if c.Cei, err = identifier("cei", c.GetCei(), lenCEI); err != nil {
		return nil, err
	}
	if c.Caepf, err = identifier("caepf", c.GetCaepf(), lenCAEPF); err != nil {
		return nil, err
	}
	c.Cno, err = identifier("cno", c.GetCno(), lenCNO)
	return c, err
}

const (
	setIdentifier     = `UPDATE brazil_company SET identifier = $3 WHERE tenant_id = $1 AND id = $2`
	deleteGroupOwners = `DELETE FROM brazil_group_owner WHERE tenant_id = $1 AND company_id = $2`
	takeOver          = `
INSERT INTO brazil_group_owner (tenant_id, group_id, company_id) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id, group_id) DO NOTHING`

	companyGroups = `
SELECT o.company_id, g.id, g.name FROM brazil_group_owner o
JOIN brazil_device_group g ON g.tenant_id = o.tenant_id AND g.id = o.group_id
WHERE o.tenant_id = $1 AND o.company_id = ANY($2)`
)

// storeIdentity stores the identifier of a company in a unique column, and its group.
func (h *Companies) storeIdentity(ctx context.Context, tx pgx.Tx, given, stored *timekeepingv1.BrazilCompany) error {
	tenantID := tenant.Of(ctx)
	// An establishment is a company under its own CNPJ. One person may have several establishments,
	// which CAEPF and CNO distinguish.
	key := strings.Join([]string{stored.GetIdentifier(), stored.GetCaepf(), stored.GetCno()}, " ")
	_, err := tx.Exec(ctx, setIdentifier, tenantID, stored.GetId(), key)
	if pgerr.IsUnique(err, "brazil_company_identifier") {
		return fault.Invalid(CodeTaken, fmt.Sprintf("Another company has the identifier %s, and the same CAEPF and CNO.", stored.GetIdentifier()))
	}
	if err != nil {
		return fmt.Errorf("brazil: identify a company: %w", err)
	}
	if _, err := tx.Exec(ctx, deleteGroupOwners, tenantID, stored.GetId()); err != nil {
		return fmt.Errorf("brazil: take a group from a company: %w", err)
	}
	if given.GetDeviceGroup() == nil {
		return nil
	}
	found, err := groupKind().Read(ctx, tx, "deviceGroup", []*commonv1.Ref{given.GetDeviceGroup()})
	if err != nil {
		return err
	}
	group := found[0]
	done, err := tx.Exec(ctx, takeOver, tenantID, group.GetId(), stored.GetId())
	switch {
	case pgerr.IsForeignKey(err, "brazil_group_owner_group"):
		return fault.Invalid(CodeUnknown, "The device group (deviceGroup) no longer exists.")
	case err != nil:
		return fmt.Errorf("brazil: give a group to a company: %w", err)
	case done.RowsAffected() == 0:
		return fault.Invalid(CodeOtherCompany, fmt.Sprintf("The device group %q belongs to another company.", group.GetName()))
	}
	stored.DeviceGroup = &commonv1.Ref{Id: group.Id, Qualifier: proto.String(group.GetName())}
	return nil
}

// show fills in the groups of companies.
func (h *Companies) show(ctx context.Context, list ...*timekeepingv1.BrazilCompany) error {
	return showRefs(ctx, h.resource.Pool, companyGroups, list, func(c *timekeepingv1.BrazilCompany, groups []*commonv1.Ref) {
		c.DeviceGroup = groups[0]
	})
}

// ListBrazilCompanies returns the companies by name, or the requested one.
func (h *Companies) ListBrazilCompanies(ctx context.Context, req *timekeepingv1.ListBrazilCompaniesRequest) (*timekeepingv1.BrazilCompanyList, error) {
	list, err := h.resource.List(ctx, req.Id, req.Name)
	return &timekeepingv1.BrazilCompanyList{Items: list}, err
}

// GetBrazilCompany returns one company, or 404.
func (h *Companies) GetBrazilCompany(ctx context.Context, req *timekeepingv1.GetBrazilCompanyRequest) (*timekeepingv1.BrazilCompany, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateBrazilCompany stores a new company.
func (h *Companies) CreateBrazilCompany(ctx context.Context, req *timekeepingv1.BrazilCompany) (*timekeepingv1.BrazilCompany, error) {
	return h.resource.Create(ctx, req)
}

// UpdateBrazilCompany replaces a company. A request without a group removes the group.
func (h *Companies) UpdateBrazilCompany(ctx context.Context, req *timekeepingv1.UpdateBrazilCompanyRequest) (*timekeepingv1.BrazilCompany, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteBrazilCompany deletes a company. Its group stays.
func (h *Companies) DeleteBrazilCompany(ctx context.Context, req *timekeepingv1.DeleteBrazilCompanyRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
