// Package auth is the service that knows who may log in: users' credentials,
// clients, families of tokens and the keys that sign them.
package auth

import (
	"cmp"
	"context"
	"crypto"
	"log/slog"
	"runtime"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/password"
	"github.com/rotaloom/rotaloom/services/auth/internal/signing"
	"github.com/rotaloom/rotaloom/services/auth/internal/token"
	"github.com/rotaloom/rotaloom/services/auth/internal/user"
	"github.com/rotaloom/rotaloom/services/auth/migrations"
)

// Config is what can be set of the service. Every field works at its zero
// value.
type Config struct {
	Issuer          string        `name:"token-issuer" default:"rotaloom" help:"Issuer that tokens name."`
	Audience        string        `name:"token-audience" default:"rotaloom" help:"Audience that access tokens name."`
	TokenLife       time.Duration `name:"token-life" default:"30m" help:"Lifetime of access tokens."`
	HashMemory      uint32        `name:"password-memory" default:"19456" help:"Memory of one password hash in KiB."`
	HashTime        uint32        `name:"password-time" default:"2" help:"Passes of one password hash."`
	HashConcurrency int           `name:"password-concurrency" default:"0" help:"Password hashes at a time; 0 for one per processor."`
	HashQueue       int           `name:"password-queue" default:"256" help:"Log-ins that may wait for their password hash."`
}

// Deps are what the service works with.
type Deps struct {
	// Pool is on the service's own database, whose schema is that of
	// Migrations.
	Pool  *pgxpool.Pool
	Log   *slog.Logger
	Clock clock.Clock
	// Permissions are all that the contracts name. Access profiles choose from
	// them.
	Permissions []string
}

// Service is the auth service.
type Service struct {
	pool      *pgxpool.Pool
	hasher    *password.Hasher
	tokens    *token.Handler
	users     *user.Handler
	keySource *authn.KeySet
}

// Migrations answers the schema that the service needs.
func Migrations() []pg.Migrations {
	return []pg.Migrations{{Table: "auth_version", FS: migrations.FS}}
}

// New makes the service. It does not touch the database.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	params := password.DefaultParams
	params.Memory = cmp.Or(cfg.HashMemory, params.Memory)
	params.Time = cmp.Or(cfg.HashTime, params.Time)
	hasher, err := password.New(params, cmp.Or(cfg.HashConcurrency, runtime.GOMAXPROCS(0)), cmp.Or(cfg.HashQueue, 256))
	if err != nil {
		return nil, err
	}
	life := cmp.Or(cfg.TokenLife, 30*time.Minute)
	keys, err := signing.New(deps.Pool, deps.Clock, life)
	if err != nil {
		return nil, err
	}
	return &Service{
		pool:   deps.Pool,
		hasher: hasher,
		tokens: token.New(
			token.Config{Issuer: cmp.Or(cfg.Issuer, "rotaloom"), Audience: cmp.Or(cfg.Audience, "rotaloom"), Life: life},
			token.Deps{
				Pool: deps.Pool, Keys: keys, Hasher: hasher, Log: deps.Log, Clock: deps.Clock,
				Permissions: deps.Permissions,
			}),
		users: user.New(deps.Pool, hasher),
		keySource: authn.NewKeySet(func(ctx context.Context) (*jose.JSONWebKeySet, error) {
			return keys.Public(ctx)
		}, deps.Clock),
	}, nil
}

// Register adds the service's operations to a server.
func (s *Service) Register(server grpc.ServiceRegistrar) {
	authv1.RegisterTokenServiceServer(server, s.tokens)
	authv1.RegisterUserServiceServer(server, s.users)
}

// Key answers a public key by its id, so that the service verifies tokens by
// its own keys. Service is an authn.KeySource.
func (s *Service) Key(ctx context.Context, kid string) (crypto.PublicKey, error) {
	return s.keySource.Key(ctx, kid)
}

// Run does the work that no request asks for, until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.tokens.Run(ctx) }

// Check says why the service cannot do its work, or nil.
func (s *Service) Check(ctx context.Context) error {
	return pg.CheckSchema(ctx, s.pool, Migrations()...)
}
