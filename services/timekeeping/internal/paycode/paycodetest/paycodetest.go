// Package paycodetest helps tests of references to pay codes, work rules and pay rules.
package paycodetest

import (
	"context"

	"google.golang.org/grpc"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Terms simulates a scheduling service with one employment term, which refers to the object with an
// id; without an id, the term refers to nothing.
type Terms struct {
	Property schedulingv1.EmploymentTermProperty
	ID       int64
	Name     string
}

// FindEmploymentTermUse returns the term if it refers to the object.
func (t Terms) FindEmploymentTermUse(_ context.Context, req *schedulingv1.FindEmploymentTermUseRequest, _ ...grpc.CallOption) (*schedulingv1.FindEmploymentTermUseResponse, error) {
	out := &schedulingv1.FindEmploymentTermUseResponse{}
	if t.ID != 0 && t.ID == req.GetId() && t.Property == req.GetProperty() {
		out.EmploymentTerm = t.Name
	}
	return out, nil
}
