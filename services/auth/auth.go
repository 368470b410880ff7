// Package auth is the service that knows who may log in: users' credentials,
// clients, families of tokens and the keys that sign them.
package auth

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/restore"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/client"
	"github.com/rotaloom/rotaloom/services/auth/internal/directory"
	"github.com/rotaloom/rotaloom/services/auth/internal/federation"
	"github.com/rotaloom/rotaloom/services/auth/internal/loginlimit"
	"github.com/rotaloom/rotaloom/services/auth/internal/password"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/scopes"
	"github.com/rotaloom/rotaloom/services/auth/internal/signing"
	"github.com/rotaloom/rotaloom/services/auth/internal/token"
	"github.com/rotaloom/rotaloom/services/auth/internal/user"
	"github.com/rotaloom/rotaloom/services/auth/migrations"
)

// Config is what can be set of the service. Every field works at its zero
// value.
type Config struct {
	authn.TokenSettings

	TokenLife time.Duration `name:"token-life" default:"30m" help:"Lifetime of access tokens."`
	// SigningKeyLife is how long a signing key is in use, from its first token to the end
	// of the last one; 0 for 90 days.
	SigningKeyLife time.Duration `name:"signing-key-life" default:"2160h" help:"How long a signing key is in use. The next one is published ahead of its first token."`
	// KeyEncryptionFile and KeyEncryptionKey hold the key that encrypts signing keys in
	// the database; the file counts when both are given.
	KeyEncryptionFile string     `name:"key-encryption-file" type:"path" help:"File with the key that encrypts signing keys in the database: 32 random bytes in base64. Further lines are keys of before."`
	KeyEncryptionKey  obs.Secret `name:"key-encryption-key" help:"The same as a setting, best as a variable."`
	// AllowPlainSigningKeys lets CheckKeyEncryption pass without a key.
	AllowPlainSigningKeys bool `name:"allow-plain-signing-keys" help:"Store signing keys in the database as they are, without a key that encrypts them: whoever reads it can sign tokens."`
	// HashMemory and HashTime take about 20 ms and 19 MiB (OWASP's recommendation).
	HashMemory      uint32            `name:"password-memory" default:"19456" help:"Memory of one password hash in KiB."`
	HashTime        uint32            `name:"password-time" default:"2" help:"Passes of one password hash."`
	HashConcurrency int               `name:"password-concurrency" default:"0" help:"Password hashes at a time; 0 for one per processor."`
	HashQueue       int               `name:"password-queue" default:"256" help:"Log-ins that may wait for their password hash."`
	LoginLimit      loginlimit.Config `embed:""`
	Directory       directory.Config  `embed:""`
	// Federation says how identity providers are reached.
	Federation federation.Config `embed:""`
	// PublicURL is where clients reach the edge.
	PublicURL         string `name:"public-url" help:"Where clients reach the edge, https://host, for OpenID discovery; when empty, the host name of each request, which must be a tenant's, or this machine."`
	ClientCredentials bool   `name:"client-credentials" default:"true" negatable:"" help:"Serve the grant client_credentials to the clients that may use it, which none may by itself."`
	// DefaultAuthChain is the chain of token requests that name none; when it is empty, they
	// must name one.
	DefaultAuthChain string `name:"default-auth-chain" default:"" enum:",OAuthLdapService" help:"The auth_chain of token requests that name none: OAuthLdapService; when empty, such requests are refused."`
	// RevocationReplicas is how many NATS servers keep the bucket of revoked
	// tokens.
	RevocationReplicas int `name:"revocation-replicas" default:"1" help:"NATS servers that keep the list of revoked tokens: 3 in a cluster."`
}

// Deps are what the service works with.
type Deps struct {
	// Pool is on the service's own database, whose schema is that of
	// Migrations.
	Pool *pg.Pool
	// NATS is where other processes learn of revocations at once; without it
	// they learn of them by asking.
	NATS  *nats.Conn
	Log   *slog.Logger
	Clock clock.Clock
	// Permissions are all that the contracts name. Access profiles choose from
	// them.
	Permissions []string
	// OwnRecordActions are the actions on one's own record that the contracts name.
	OwnRecordActions []string
}

// Service is the auth service.
type Service struct {
	pool        *pg.Pool
	log         *slog.Logger
	clock       clock.Clock
	keys        *signing.Keys
	wraps       bool
	hasher      *password.Hasher
	tokens      *token.Handler
	federation  *federation.Handler
	users       *user.Handler
	profiles    *profile.Handler
	clients     *client.Handler
	revocations *revoked.Handler
	revoked     *revoked.Store
	loginLimit  *loginlimit.Limiter
	// publisher is nil without NATS.
	publisher *revoked.Publisher
	keySource *authn.KeySet
}

// Migrations returns the schema that the service needs.
func Migrations() []pg.Migrations {
	return []pg.Migrations{restore.Migrations(), audit.Migrations(), {Table: "auth_version", FS: migrations.FS}}
}

// New makes the service. It does not touch the database.
func New(_ context.Context, cfg Config, deps Deps) (*Service, error) {
	cfg = cfg.withDefaults()
	hasher, err := password.New(password.Params{Memory: cfg.HashMemory, Time: cfg.HashTime, Threads: 1}, cfg.HashConcurrency, cfg.HashQueue)
	if err != nil {
		return nil, err
	}
	wrapper, err := cfg.wrapper()
	if err != nil {
		return nil, err
	}
	keys, err := signing.New(deps.Pool, deps.Clock, signing.Config{TokenLife: cfg.TokenLife, Life: cfg.SigningKeyLife, KeySetLife: cfg.KeySetLife}, wrapper)
	if err != nil {
		return nil, err
	}
	s := &Service{keys: keys, wraps: wrapper != nil, pool: deps.Pool, log: deps.Log, clock: deps.Clock, hasher: hasher, revoked: revoked.NewStore(deps.Pool, deps.Clock, deps.Log)}
	s.keySource = authn.NewKeySet(func(ctx context.Context) (*jose.JSONWebKeySet, error) {
		return keys.Public(ctx)
	}, deps.Clock, cfg.KeySetLife)
	// Whether a token is ours does not depend on whether it was revoked.
	ours, err := authn.NewVerifier(cfg.tokens(), s.keySource, authn.NoRevocations{}, deps.Clock)
	if err != nil {
		return nil, err
	}
	ldap, err := directory.New(cfg.Directory)
	if err != nil {
		return nil, err
	}
	s.federation, err = federation.New(cfg.Federation, federation.Deps{
		Pool: deps.Pool, Clock: deps.Clock, Log: deps.Log, Issuer: cfg.Issuer, Permissions: deps.Permissions,
	})
	if err != nil {
		return nil, err
	}
	s.loginLimit = loginlimit.New(cfg.LoginLimit, deps.Pool, deps.Clock, deps.Log)
	catalog := scopes.NewCatalog(deps.Permissions)
	s.tokens = token.New(
		token.Config{
			Issuer: cfg.Issuer, Audience: cfg.Audience, Life: cfg.TokenLife, PublicURL: cfg.PublicURL,
			ClientCredentials: cfg.ClientCredentials, DefaultAuthChain: cfg.DefaultAuthChain,
		},
		token.Deps{
			Pool: deps.Pool, Keys: keys, Hasher: hasher, Log: deps.Log, Clock: deps.Clock,
			Scopes: catalog, Verifier: ours, Revoked: s.revoked, LoginLimit: s.loginLimit, Directory: ldap, Federation: s.federation,
		})
	s.users = user.New(user.Deps{
		Pool: deps.Pool, Hasher: hasher, Clock: deps.Clock, Revoked: s.revoked, LoginLimit: s.loginLimit, Permissions: deps.Permissions,
	})
	s.profiles = profile.NewHandler(deps.Pool, deps.Clock, s.revoked, deps.Permissions, deps.OwnRecordActions)
	s.clients = client.New(client.Deps{
		Pool: deps.Pool, Clock: deps.Clock, Revoked: s.revoked, Scopes: catalog, Permissions: deps.Permissions,
	})
	s.revocations = revoked.NewHandler(s.revoked)
	if deps.NATS != nil {
		s.publisher = revoked.NewPublisher(s.revoked, deps.NATS, cfg.TokenLife, cfg.RevocationReplicas, deps.Log)
	}
	return s, nil
}

// CheckKeyEncryption says what to do when the key that encrypts signing keys is no good
// one, or when they would be stored as they are and nobody allowed that.
func (c Config) CheckKeyEncryption() error {
	if wrapper, err := c.wrapper(); err != nil || wrapper != nil || c.AllowPlainSigningKeys {
		return err
	}
	return errors.New("there is no key that encrypts the signing keys in the database: make one (openssl rand -base64 32), " +
		"give its file by --key-encryption-file or itself as ROTALOOM_KEY_ENCRYPTION_KEY to each process of auth, and keep a copy; " +
		"or allow --allow-plain-signing-keys")
}

// wrapper returns what encrypts signing keys, or nil.
func (c Config) wrapper() (signing.Wrapper, error) {
	switch {
	case c.KeyEncryptionFile != "":
		return signing.ReadLocalWrapper(c.KeyEncryptionFile)
	case c.KeyEncryptionKey != "":
		return signing.NewLocalWrapper(c.KeyEncryptionKey.Reveal())
	}
	return nil, nil
}

func (c Config) withDefaults() Config {
	c = defaults.Fill(c)
	c.TokenSettings = defaults.Fill(c.TokenSettings)
	c.HashConcurrency = cmp.Or(c.HashConcurrency, runtime.GOMAXPROCS(0))
	return c
}

func (c Config) tokens() authn.Config { return authn.Config{Issuer: c.Issuer, Audience: c.Audience} }

// Register adds the service's operations to a server.
func (s *Service) Register(server grpc.ServiceRegistrar) {
	authv1.RegisterTokenServiceServer(server, s.tokens)
	authv1.RegisterFederationServiceServer(server, s.tokens)
	authv1.RegisterIdentityProviderServiceServer(server, s.federation)
	authv1.RegisterUserServiceServer(server, s.users)
	authv1.RegisterAccessProfileServiceServer(server, s.profiles)
	authv1.RegisterClientServiceServer(server, s.clients)
	authv1.RegisterRevocationServiceServer(server, s.revocations)
}

// Key returns a public key by its id, so that the service verifies tokens by
// its own keys. Service is an authn.KeySource.
func (s *Service) Key(ctx context.Context, kid string) (crypto.PublicKey, error) {
	return s.keySource.Key(ctx, kid)
}

// Revoked reports whether the principal's token was revoked, by the rows
// themselves. Service is the authn.Revocations of its own process.
func (s *Service) Revoked(ctx context.Context, p *authn.Principal) (bool, error) {
	return s.revoked.Revoked(ctx, p)
}

// Exchange returns our token for one of an identity provider, so that the
// service accepts these without asking itself. It is an authn.Exchange.
func (s *Service) Exchange(ctx context.Context, token string) (string, error) {
	return s.tokens.Exchange(ctx, token)
}

// Run does the work that no request asks for, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	if !s.wraps {
		s.log.WarnContext(ctx, "signing keys are stored as they are, and whoever reads the database can sign tokens: give --key-encryption-file")
	}
	group.Go(func() error { return s.keys.Run(ctx, s.log) })
	group.Go(func() error { return s.tokens.Run(ctx) })
	group.Go(func() error { return s.revoked.Run(ctx) })
	group.Go(func() error { return s.loginLimit.Run(ctx) })
	group.Go(func() error { return s.users.Run(ctx, s.log) })
	if s.publisher != nil {
		group.Go(func() error { return s.publisher.Run(ctx) })
	}
	return group.Wait()
}

// ContinuesWhileRestored says that keys, revocations and what expires are looked after also
// while the database counts as restored.
func (s *Service) ContinuesWhileRestored() {}

// Check says why the service cannot do its work, or nil.
func (s *Service) Check(ctx context.Context) error {
	if err := pg.CheckSchema(ctx, s.pool, Migrations()...); err != nil {
		return err
	}
	// Without a key that can sign, nobody can log in.
	_, err := s.keys.Signer(ctx)
	return err
}
