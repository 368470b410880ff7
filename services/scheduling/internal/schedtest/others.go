package schedtest

import (
	"context"

	"google.golang.org/grpc"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// NoPersons is a client of commons that knows no persons.
type NoPersons struct{ commonsv1.PersonServiceClient }

// ResolvePersons returns no persons.
func (NoPersons) ResolvePersons(context.Context, *commonsv1.ResolvePersonsRequest, ...grpc.CallOption) (*commonsv1.ResolvePersonsResponse, error) {
	return &commonsv1.ResolvePersonsResponse{}, nil
}
