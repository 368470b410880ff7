package application

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// CheckPersons checks the persons that the terms of an employment at a path of the request name. The
// terms may be nil. Do not call it inside a transaction.
func CheckPersons(ctx context.Context, persons *record.Persons, path string, d *details) error {
	_, err := persons.Resolve(ctx, map[string]string{
		path + ".hiring_manager.id": d.GetHiringManager().GetId(), path + ".onboarding_owner.id": d.GetOnboardingOwner().GetId(),
	})
	return err
}

// ResolveDetails checks the references of the terms of an employment to the configuration. The terms may
// be nil. It writes ids into the references, and no names, because names change.
func ResolveDetails(ctx context.Context, tx pgx.Tx, path string, d *details) error {
	found := fault.List{}
	if d.GetCompany() != nil {
		_, _, err := configuration.LegalEntity.Resolve(ctx, tx, path+".company", d.GetCompany())
		found.Add(err)
		d.Company.Name = ""
	}
	if d.GetTaxLocation() != nil && !found.Stopped() {
		_, _, err := configuration.TaxLocation.Resolve(ctx, tx, path+".tax_location", &ref{Id: d.GetTaxLocation().GetId()})
		found.Add(err)
	}
	for _, named := range []*recruitingv1.IdRef{d.GetHiringManager(), d.GetOnboardingOwner(), d.GetTaxLocation()} {
		if named != nil {
			named.Id = strings.ToLower(named.GetId())
		}
	}
	for i, unit := range d.GetOrgUnits() {
		if found.Stopped() {
			break
		}
		_, _, err := configuration.OrgUnit.Resolve(ctx, tx, fmt.Sprintf("%s.org_units[%d]", path, i), unit)
		found.Add(err)
		unit.Name = ""
	}
	return found.Err()
}
