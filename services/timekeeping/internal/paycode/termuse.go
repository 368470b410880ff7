package paycode

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Terms are the employment terms of scheduling, which refer to objects of this service.
type Terms interface {
	FindEmploymentTermUse(ctx context.Context, req *schedulingv1.FindEmploymentTermUseRequest, opts ...grpc.CallOption) (*schedulingv1.FindEmploymentTermUseResponse, error)
}

// CheckNoTerm refuses to delete an object that an employment term refers to. What is how a
// message calls the object. It has no place in a transaction.
func CheckNoTerm(ctx context.Context, terms Terms, of schedulingv1.EmploymentTermProperty, what string, id int64, name string) error {
	found, err := terms.FindEmploymentTermUse(ctx, &schedulingv1.FindEmploymentTermUseRequest{Property: of, Id: id, Name: name})
	if err != nil {
		return fmt.Errorf("find employment terms of %s %d: %w", what, id, err)
	}
	if found.GetEmploymentTerm() != "" {
		return fault.Invalid(CodeInUse, fmt.Sprintf("The employment term %q refers to the %s %q.", found.GetEmploymentTerm(), what, name))
	}
	return nil
}
