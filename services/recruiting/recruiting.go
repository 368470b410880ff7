// Package recruiting is the service for hiring: opportunities, candidates, applications, offers and hires, with
// the configuration that they refer to.
package recruiting

import (
	"context"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/setup"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/assessment"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/backgroundcheck"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/hire"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/offer"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/personaldata"
	"github.com/rotaloom/rotaloom/services/recruiting/migrations"
)

// Config holds the settings of the service. The zero value of every field works.
type Config struct{}

// Deps are the dependencies of the service.
type Deps struct {
	serve.Backends
	// Commons is a connection to the service of persons and jobs, which trusts this one.
	Commons grpc.ClientConnInterface
}

// Service is the recruiting service.
type Service struct {
	serve.Registrations

	pool  *pg.Pool
	hires *hire.Handler
}

// Migrations returns the schema that the service needs.
func Migrations() ([]pg.Migrations, error) {
	return []pg.Migrations{restore.Migrations(), audit.Migrations(), setup.Migrations(), {Table: "recruiting_version", FS: migrations.FS}}, nil
}

// New creates the service. It does not access the database.
func New(_ context.Context, _ Config, deps Deps) (*Service, error) {
	hires := hire.New(deps.Pool, deps.Clock, deps.Log, deps.Commons)
	applications := application.New(deps.Pool, deps.Clock, deps.Commons)
	candidates := candidate.New(deps.Pool, deps.Commons, application.VisibleCandidates)
	return &Service{
		pool: deps.Pool, hires: hires,
		Registrations: serve.Registrations{
			serve.Handle(recruitingv1.RegisterConfigurationItemServiceServer)(configuration.NewItems(deps.Pool)),
			serve.Handle(recruitingv1.RegisterConfigurationSettingServiceServer)(configuration.NewSettings(deps.Pool)),
			serve.Handle(recruitingv1.RegisterAssessmentServiceServer)(assessment.New(deps.Pool, application.VisibleCandidates)),
			serve.Handle(recruitingv1.RegisterBackgroundCheckServiceServer)(backgroundcheck.New(deps.Pool, deps.Commons)),
			serve.Handle(recruitingv1.RegisterCandidateServiceServer)(candidates),
			serve.Handle(recruitingv1.RegisterCandidateListServiceServer)(candidates),
			serve.Handle(recruitingv1.RegisterCandidateDocumentServiceServer)(candidates),
			serve.Handle(recruitingv1.RegisterApplicationServiceServer)(applications),
			serve.Handle(recruitingv1.RegisterApplicationDocumentServiceServer)(applications),
			serve.Handle(recruitingv1.RegisterDispositionServiceServer)(applications),
			serve.Handle(recruitingv1.RegisterPersonalDataServiceServer)(personaldata.New(deps.Pool)),
			serve.Handle(recruitingv1.RegisterOfferServiceServer)(offer.New(deps.Pool, deps.Clock, deps.Commons)),
			serve.Handle(recruitingv1.RegisterHireServiceServer)(hires),
			serve.Handle(recruitingv1.RegisterOpportunityServiceServer)(opportunity.New(deps.Pool, deps.Clock, deps.Commons)),
		},
	}, nil
}

// Run completes interrupted hires until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.hires.Run(ctx) }

// Check returns an error if the service cannot work: its schema is too old.
func (s *Service) Check(ctx context.Context) error {
	return serve.CheckSchema(ctx, s.pool, Migrations)
}
