package dataelement

import (
	"context"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/fault"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
)

// Provider is a [Table] with rows of any type.
type Provider interface {
	Describe() *datav1.DataProvider
	Read(ctx context.Context, req *datav1.ReadDataElementsRequest) ([]*datav1.DataColumn, error)
}

// Server serves the providers of a domain.
type Server struct {
	datav1.UnsafeDataProviderServiceServer

	described *datav1.DescribeDataElementsResponse
	providers []Provider // as described
}

var _ datav1.DataProviderServiceServer = (*Server)(nil)

// NewServer returns the service of the providers.
func NewServer(providers ...Provider) *Server {
	s := &Server{described: &datav1.DescribeDataElementsResponse{}, providers: providers}
	for _, p := range providers {
		s.described.Providers = append(s.described.Providers, p.Describe())
	}
	return s
}

// DescribeDataElements returns the providers.
func (s *Server) DescribeDataElements(context.Context, *datav1.DescribeDataElementsRequest) (*datav1.DescribeDataElementsResponse, error) {
	return s.described, nil
}

// ReadDataElements reads elements of one provider.
func (s *Server) ReadDataElements(ctx context.Context, req *datav1.ReadDataElementsRequest) (*datav1.ReadDataElementsResponse, error) {
	at := slices.IndexFunc(s.described.GetProviders(), func(p *datav1.DataProvider) bool {
		return p.GetName() == req.GetProvider() && (req.GetRowKind() == datav1.RowKind_ROW_KIND_UNSPECIFIED || req.GetRowKind() == p.GetRowKind())
	})
	if at < 0 {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("This service has no data provider %.40q.", req.GetProvider()))
	}
	columns, err := s.providers[at].Read(ctx, req)
	if err != nil {
		return nil, err
	}
	return &datav1.ReadDataElementsResponse{Columns: columns}, nil
}
