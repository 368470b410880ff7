package serve_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/serve"
	auditv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/audit/v1"
)

// recorder records the services and handlers that are registered.
type recorder map[string]any

func (r recorder) RegisterService(desc *grpc.ServiceDesc, handler any) { r[desc.ServiceName] = handler }

func TestRegistrations(t *testing.T) {
	t.Parallel()
	handler, server, called := struct {
		auditv1.AuditTrailServiceServer
	}{}, recorder{}, false
	serve.Registrations{
		serve.Handle(auditv1.RegisterAuditTrailServiceServer)(handler),
		func(grpc.ServiceRegistrar) { called = true },
	}.Register(server)
	assert.Equal(t, recorder{auditv1.AuditTrailService_ServiceDesc.ServiceName: handler}, server)
	assert.True(t, called)
}
