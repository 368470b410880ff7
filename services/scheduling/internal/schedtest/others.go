package schedtest

import (
	"context"

	"google.golang.org/grpc"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// NoPersons is commons that knows no person that is not projected.
type NoPersons struct{ commonsv1.PersonServiceClient }

// ResolvePersons returns nobody.
func (NoPersons) ResolvePersons(context.Context, *commonsv1.ResolvePersonsRequest, ...grpc.CallOption) (*commonsv1.ResolvePersonsResponse, error) {
	return &commonsv1.ResolvePersonsResponse{}, nil
}

// NoTerms is timekeeping that knows no term that is not projected.
type NoTerms struct {
	timekeepingv1.EmploymentTermServiceClient
}

// ResolveEmploymentTerms returns no terms.
func (NoTerms) ResolveEmploymentTerms(context.Context, *timekeepingv1.ResolveEmploymentTermsRequest, ...grpc.CallOption) (*timekeepingv1.ResolveEmploymentTermsResponse, error) {
	return &timekeepingv1.ResolveEmploymentTermsResponse{}, nil
}
