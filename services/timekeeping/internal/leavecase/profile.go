package leavecase

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
)

// checkProfile returns an error if the leave profile of the employee does not have the category of
// a case.
func checkProfile(ctx context.Context, db pg.Querier, employeeID int64, body *timekeepingv1.LeaveCase) error {
	profile, category, err := leavepolicy.Of(ctx, db, employeeID, body.GetCategory().GetId())
	if err != nil || profile == nil || category != nil {
		return err
	}
	return fault.Invalid(CodeCategoryClosed, fmt.Sprintf("The category %q is not in the leave profile %q of the employee.",
		body.GetCategory().GetName(), profile.GetName()))
}
