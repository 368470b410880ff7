package hire

import (
	"context"

	"github.com/jackc/pgx/v5"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
)

// placeInJob gives the new hire of a request the job of an opportunity, if it has none, and the workplace of
// the terms or of the opportunity, if it has neither organization levels nor a location. The names are
// the present ones, because objects refer to the configuration by GUIDs.
func placeInJob(ctx context.Context, tx pgx.Tx, req *request, o *recruitingv1.Opportunity) error {
	in := req.GetEmployee()
	if in.GetJobCode() == "" {
		in.JobCode = o.GetJob().GetCode()
	}
	for _, text := range []string{in.GetOrgLevel1(), in.GetOrgLevel2(), in.GetOrgLevel3(), in.GetOrgLevel4(), in.GetLocationCode()} {
		if text != "" {
			return nil
		}
	}
	units := req.GetHireDetails().GetOrgUnits()
	if groups := o.GetOrgUnitGroups(); len(units) == 0 && len(groups) == 1 {
		units = groups[0].GetOrgUnits()
	}
	if err := setLevels(ctx, tx, in, units); err != nil {
		return err
	}
	if len(o.GetLocations()) != 1 {
		return nil
	}
	place, _, err := configuration.PhysicalLocation.ResolveGUID(ctx, tx, "locations[0]", o.GetLocations()[0])
	in.LocationCode = place.GetName()
	return err
}

// setLevels writes the codes of organizational units into the organization levels of a new hire. Units
// below the fourth level have no place there.
func setLevels(ctx context.Context, tx pgx.Tx, in *commonsv1.NewHire, units []*recruitingv1.Ref) error {
	levels := []*string{&in.OrgLevel1, &in.OrgLevel2, &in.OrgLevel3, &in.OrgLevel4}
	for _, ref := range units {
		unit, _, err := configuration.OrgUnit.ResolveGUID(ctx, tx, "org_units", &recruitingv1.Ref{Id: ref.GetId()})
		if err != nil {
			return err
		}
		if level := int(unit.GetOrgLevel().GetLevel()); level >= 1 && level <= len(levels) {
			*levels[level-1] = unit.GetCode()
		}
	}
	return nil
}
