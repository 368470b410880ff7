package paycode

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/setup"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

// CheckNoTerm returns a function that returns an error if an employment term refers to a resource,
// so that it cannot be deleted.
func CheckNoTerm[T setup.NumberedMessage](terms setupname.Terms, property schedulingv1.EmploymentTermProperty, kind *setup.Kind[T]) func(context.Context, T) error {
	return func(ctx context.Context, resource T) error {
		found, err := terms.FindEmploymentTermUse(ctx, &schedulingv1.FindEmploymentTermUseRequest{
			Property: property, Id: resource.GetId(), Name: resource.GetName(),
		})
		if err != nil {
			return fmt.Errorf("find employment terms of %s %d: %w", kind.What, resource.GetId(), err)
		}
		if found.GetEmploymentTerm() != "" {
			return kind.InUseError(fmt.Sprintf("The employment term %q", found.GetEmploymentTerm()), resource)
		}
		return nil
	}
}
