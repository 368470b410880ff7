package hire

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// place gives the opportunity a job, a location, and a group with an organizational unit of each level.
func (f fixture) place(t *testing.T) (units []*recruitingv1.Ref) {
	t.Helper()
	settings := configuration.NewSettings(f.pool)
	location, err := settings.CreatePhysicalLocation(f.ctx, &recruitingv1.PhysicalLocation{Name: "IA01"})
	require.NoError(t, err)
	for i, code := range []string{"Midwest", "Care"} {
		unit, err := settings.CreateOrgUnit(f.ctx, &recruitingv1.OrgUnit{Name: code + " unit", Code: code, OrgLevel: &recruitingv1.OrgLevel{Level: int32(i) + 1}})
		require.NoError(t, err)
		units = append(units, &recruitingv1.Ref{Id: unit.GetId()})
	}
	require.NoError(t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		o, err := opportunity.Opportunities.Lock(ctx, tx, f.opportunity, record.Condition{})
		if err != nil {
			return err
		}
		o.Body.Job, o.Body.Locations = &recruitingv1.OpportunityJob{Code: "NURSE2"}, []*recruitingv1.Ref{{Id: location.GetId()}}
		o.Body.OrgUnitGroups = []*recruitingv1.OrgUnitGroup{{OrgUnits: units}}
		_, err = opportunity.Opportunities.Update(ctx, tx, o.ID, o.Body, nil)
		return err
	}))
	return units
}

func TestTheOpportunityPlacesTheNewHire(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 4)
	units := f.place(t)
	for name, c := range map[string]struct {
		employee *commonsv1.NewHire
		units    []*recruitingv1.Ref
		want     []string
	}{
		"without a workplace":          {nil, nil, []string{"Midwest", "Care", "IA01", "NURSE2"}},
		"with another job":             {&commonsv1.NewHire{JobCode: "COOK"}, nil, []string{"Midwest", "Care", "IA01", "COOK"}},
		"with another location":        {&commonsv1.NewHire{LocationCode: "NY01"}, nil, []string{"", "", "NY01", "NURSE2"}},
		"with the terms' organization": {nil, units[1:], []string{"", "Care", "IA01", "NURSE2"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := f.HireApplicant(f.ctx, &request{
				Id: f.apply(t, fmt.Sprintf("c%d@example.test", len(name))), Employee: c.employee,
				HireDetails: &recruitingv1.HireDetails{StartDate: "2026-06-01", OrgUnits: c.units},
			})
			require.NoError(t, err)
			sent := f.commons.persons[out.GetId()].GetEmployee()
			assert.Equal(t, c.want, []string{sent.GetOrgLevel1(), sent.GetOrgLevel2(), sent.GetLocationCode(), sent.GetJobCode()})
		})
	}
}
