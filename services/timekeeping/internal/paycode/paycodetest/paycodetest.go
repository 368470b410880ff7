// Package paycodetest helps tests of references to pay codes, work rules and pay rules.
package paycodetest

import (
	"context"
	"log/slog"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

// Terms simulates a scheduling service with one employment term, which refers to the object with an
// id; without an id, the term refers to nothing.
type Terms struct {
	Property schedulingv1.EmploymentTermProperty
	ID       int64
	Name     string
	// ScheduleUse is a part of schedules that refers to each object, or "".
	ScheduleUse string
}

// FindEmploymentTermUse returns the term if it refers to the object.
func (t Terms) FindEmploymentTermUse(_ context.Context, req *schedulingv1.FindEmploymentTermUseRequest, _ ...grpc.CallOption) (*schedulingv1.FindEmploymentTermUseResponse, error) {
	out := &schedulingv1.FindEmploymentTermUseResponse{ScheduleUse: t.ScheduleUse}
	if t.ID != 0 && t.ID == req.GetId() && t.Property == req.GetProperty() {
		out.EmploymentTerm = t.Name
	}
	return out, nil
}

// Persons simulates the persons of commons that have pay rules, work rules and accrual profiles. The
// zero value has none.
type Persons struct {
	// Renamed receives the requests; it may be nil.
	Renamed func(*commonsv1.RenamePersonReferencesRequest) (*commonsv1.RenamePersonReferencesResponse, error)
	// Use returns the persons of a request; it may be nil.
	Use func(*commonsv1.FindPersonReferencesRequest) *commonsv1.FindPersonReferencesResponse
}

// RenamePersonReferences passes the request to Renamed.
func (p Persons) RenamePersonReferences(_ context.Context, req *commonsv1.RenamePersonReferencesRequest, _ ...grpc.CallOption) (*commonsv1.RenamePersonReferencesResponse, error) {
	if p.Renamed == nil {
		return &commonsv1.RenamePersonReferencesResponse{}, nil
	}
	return p.Renamed(req)
}

// FindPersonReferences passes the request to Use.
func (p Persons) FindPersonReferences(_ context.Context, req *commonsv1.FindPersonReferencesRequest, _ ...grpc.CallOption) (*commonsv1.FindPersonReferencesResponse, error) {
	if p.Use == nil {
		return &commonsv1.FindPersonReferencesResponse{}, nil
	}
	return p.Use(req), nil
}

// Names returns the names of a database without employment terms and persons that use them.
func Names(pool *pg.Pool) *setupname.Names {
	return setupname.New(pool, Terms{}, Persons{}, slog.New(slog.DiscardHandler))
}
